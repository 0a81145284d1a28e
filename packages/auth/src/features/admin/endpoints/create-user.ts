import { type Answer, type Call, json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { type Static, Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { parseAppMetadata, parseUserMetadata } from '../../users/metadata.ts'
import { parseBan } from '../ban-duration.ts'
import { createUserAsAdmin } from '../create-user.ts'
import { checkText, parseUserFields, userFields } from './user-fields.ts'
import { parseNewId } from './user-id.ts'

const body = Type.Object({
  ...userFields,
  id: Type.Optional(Type.String({ description: 'UUID of the new user' })),
  aud: Type.Optional(Type.String({ description: 'Audience of the new user' })),
  password_hash: Type.Optional(
    Type.String({ description: 'bcrypt, argon2i, argon2id or Firebase scrypt' }),
  ),
})

const success = { status: 200, description: 'The user record' } as const

export const adminCreateUser = defineEndpoint({
  method: 'POST',
  path: '/admin/users',
  summary: 'Creates a user',
  allowed: 'admin',
  body,
  success,
  handle: (call, services) => create(call, services, call.body.id),
})

export const adminCreateUserWithId = defineEndpoint({
  method: 'POST',
  path: '/admin/users/:user_id',
  summary: 'Creates a user with that id',
  allowed: 'admin',
  body,
  success,
  handle: (call, services) => create(call, services, call.params['user_id']),
})

async function create(
  call: Call<Static<typeof body>> & { readonly adminRole: string },
  services: Services,
  id: string | undefined,
): Promise<Answer> {
  const { body: fields, adminRole, client } = call
  checkText('aud', fields.aud ?? '')
  return json(
    await createUserAsAdmin(services, {
      ...parseUserFields(fields),
      id: parseNewId(id),
      aud: fields.aud || call.audience,
      passwordHash: fields.password_hash || undefined,
      isEmailConfirmed: fields.email_confirm ?? false,
      isPhoneConfirmed: fields.phone_confirm ?? false,
      userMetadata: parseUserMetadata(services, fields.user_metadata),
      appMetadata: parseAppMetadata(services, fields.app_metadata),
      bannedUntil: parseBan(fields.ban_duration, services.now()),
      adminRole,
      client,
    }),
  )
}
