import { Type } from 'typebox'
import { userNotFound } from '../../core/admin-update-user.ts'
import { toAdminEntry } from '../../core/audit.ts'
import { deleteUser, softDeleteUser } from '../../db/delete-user.ts'
import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { readUserId } from './user-id.ts'

export const adminDeleteUser = defineEndpoint({
  method: 'DELETE',
  path: '/admin/users/:user_id',
  summary: 'Deletes a user with all that belongs to them, or all that tells who they are',
  allowed: 'admin',
  // Null: a request without a body.
  body: Type.Union([
    Type.Object({
      should_soft_delete: Type.Optional(Type.Boolean({ description: 'Keeps the id' })),
    }),
    Type.Null(),
  ]),
  success: { status: 200, description: 'An empty object' },
  async handle({ body, params, adminRole, client }, { db, now }) {
    const userId = readUserId(params)
    // Neither address nor number: the log must not tell who was deleted.
    const entry = toAdminEntry('user_deleted', adminRole, { user_id: userId })
    const statement = body?.should_soft_delete ? softDeleteUser : deleteUser
    const [gone] = await db.run(statement, [
      userId,
      entry.id,
      entry.payload,
      client.ip,
      new Date(now()),
    ])
    if (gone === undefined) throw userNotFound()
    return json({})
  },
})
