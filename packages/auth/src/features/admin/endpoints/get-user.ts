import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { findUserById } from '../../users/statements/find-users.ts'
import type { UserRow } from '../../users/statements/user-row.ts'
import { toUserRecord } from '../../users/user-record.ts'
import { userNotFound } from '../update-user.ts'
import { readUserId } from './user-id.ts'

export const adminGetUser = defineEndpoint({
  method: 'GET',
  path: '/admin/users/:user_id',
  summary: 'Any user',
  allowed: 'admin',
  success: { status: 200, description: 'The user record' },
  async handle({ params }, { db }) {
    const [user] = await db.run<UserRow>(findUserById, [readUserId(params)])
    if (user === undefined) throw userNotFound()
    return json(toUserRecord(user))
  },
})
