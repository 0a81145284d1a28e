import type { AddRoutes } from '../settings.ts'
import { addAudits } from './audits.ts'
import { addLimits } from './limits.ts'
import { addMailbox } from './mailbox.ts'
import { addOverview } from './overview.ts'
import { addPassThrough } from './pass-through.ts'
import { addSession } from './session.ts'
import { addUsers } from './users.ts'

/** One file per page, or per feature that several pages share. */
export const routes: readonly AddRoutes[] = [
  addSession,
  addOverview,
  addAudits,
  addLimits,
  addMailbox,
  addPassThrough,
  addUsers,
]
