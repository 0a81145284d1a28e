import { userNotFound } from '../../core/admin-update-user.ts'
import { toUserRecord } from '../../core/user-record.ts'
import type { UserRow } from '../../db/user-row.ts'
import { findUserById } from '../../db/users.ts'
import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
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
