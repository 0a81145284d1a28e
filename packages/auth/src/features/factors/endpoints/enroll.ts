import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { checkText } from '../../admin/endpoints/user-fields.ts'
import { enroll } from '../enroll.ts'
import { requireMember } from '../member.ts'

export const enrollFactor = defineEndpoint({
  method: 'POST',
  path: '/factors',
  summary: 'Adds a second factor, which is to be verified',
  allowed: 'user',
  body: Type.Object({
    factor_type: Type.Optional(Type.String({ description: 'totp, phone or webauthn' })),
    friendly_name: Type.Optional(
      Type.String({ description: 'Tells factors apart', maxLength: 255 }),
    ),
    issuer: Type.Optional(
      Type.String({ description: 'What an authenticator app shows; the host of SITE_URL if none' }),
    ),
    phone: Type.Optional(Type.String({ description: 'Of a phone factor (E.164)' })),
  }),
  success: { status: 200, description: 'The factor, with what its owner must keep' },
  async handle({ body, caller, client }, services) {
    const { factor_type: type = '', friendly_name: friendlyName = '', issuer, phone } = body
    checkText('friendly_name', friendlyName)
    checkText('issuer', issuer ?? '')
    return json(
      await enroll(services, {
        member: requireMember(caller),
        type,
        friendlyName: friendlyName.trim(),
        issuer: issuer?.trim() || undefined,
        phone,
        client,
      }),
    )
  },
})
