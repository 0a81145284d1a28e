import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { toMetadata } from '../../users/metadata.ts'
import { parseBan } from '../ban-duration.ts'
import { updateUserAsAdmin } from '../update-user.ts'
import { parseUserFields, userFields } from './user-fields.ts'
import { readUserId } from './user-id.ts'

export const adminUpdateUser = defineEndpoint({
  method: 'PUT',
  path: '/admin/users/:user_id',
  summary: 'Changes any user',
  allowed: 'admin',
  body: Type.Object(userFields),
  success: { status: 200, description: 'The user record' },
  async handle({ body, params, adminRole, adminSubject, client }, services) {
    const { user_metadata: userMetadata, app_metadata: appMetadata } = body
    return json(
      await updateUserAsAdmin(services, {
        ...parseUserFields(body),
        userId: readUserId(params),
        confirmsEmail: body.email_confirm ?? false,
        confirmsPhone: body.phone_confirm ?? false,
        userMetadata: userMetadata && toMetadata(userMetadata),
        appMetadata: appMetadata && toMetadata(appMetadata),
        bannedUntil: parseBan(body.ban_duration, services.now()),
        adminRole,
        adminSubject,
        client,
      }),
    )
  },
})
