import { banuser } from './ban-user.ts'
import { createuser } from './create-user.ts'
import { deleteuser } from './delete-user.ts'
import { listusers } from './list-users.ts'
import { revokesessions } from './revoke-sessions.ts'
import type { AdminVerb } from './verb.ts'

/** In the order of the overview. */
export const adminVerbs: Readonly<Record<string, AdminVerb>> = {
  createuser,
  deleteuser,
  banuser,
  listusers,
  revokesessions,
}
