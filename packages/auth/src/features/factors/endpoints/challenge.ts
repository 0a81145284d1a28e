import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { readRecipients } from '../../../messages/requests/code-recipients.ts'
import { challenge } from '../challenge.ts'
import { requireMember } from '../member.ts'
import { readFactorId } from './factor-id.ts'

export const challengeFactor = defineEndpoint({
  method: 'POST',
  path: '/factors/:factor_id/challenge',
  summary: 'Asks for a code of a factor; to a phone factor it sends one',
  allowed: 'user',
  limiter: 'mfa',
  sendsCodesTo({ params, caller }) {
    const factor = caller.factors.find(({ id }) => id === readFactorId(params))
    return factor?.factor_type === 'phone' ? readRecipients({ phone: factor.phone ?? '' }) : []
  },
  // Null: a request without a body.
  body: Type.Union([
    Type.Object({
      channel: Type.Optional(Type.String({ description: 'Of a phone factor: sms or whatsapp' })),
      webauthn: Type.Optional(Type.Unknown()),
    }),
    Type.Null(),
  ]),
  success: { status: 200, description: 'The challenge, and when it ends' },
  async handle({ body, params, caller, client }, services) {
    const factorId = readFactorId(params)
    return json(
      await challenge(services, {
        member: requireMember(caller),
        factorId,
        channel: body?.channel || undefined,
        webauthn: body?.webauthn,
        client,
      }),
    )
  },
})
