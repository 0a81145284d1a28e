import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { requireMember } from '../member.ts'
import { notingFactorFailure } from '../note-failure.ts'
import { verifyFactor as verify } from '../verify.ts'
import { readFactorId } from './factor-id.ts'

export const verifyFactor = defineEndpoint({
  method: 'POST',
  path: '/factors/:factor_id/verify',
  summary: 'Answers a challenge, which raises the session to aal2',
  allowed: 'user',
  limiter: 'mfa',
  body: Type.Object({
    challenge_id: Type.Optional(Type.String()),
    code: Type.Optional(Type.String({ description: 'What the app or the message shows' })),
    webauthn: Type.Optional(Type.Unknown()),
  }),
  success: { status: 200, description: 'A token response' },
  async handle({ body, params, caller, client, audience }, services) {
    const factorId = readFactorId(params)
    const member = requireMember(caller)
    const { challenge_id: id = '', code = '', webauthn } = body
    const challengeId = uuidPattern.test(id) ? id.toLowerCase() : undefined
    const answer = { code, webauthn }
    return json(
      await notingFactorFailure(services, { member, audience, client }, () =>
        verify(services, { member, factorId, challengeId, answer, client }),
      ),
    )
  },
})
