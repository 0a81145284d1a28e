import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { removeUser } from '../delete-user.ts'
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
  async handle({ body, params, adminRole, client }, services) {
    await removeUser(services, {
      userId: readUserId(params),
      isSoft: body?.should_soft_delete ?? false,
      adminRole,
      ip: client.ip,
    })
    return json({})
  },
})
