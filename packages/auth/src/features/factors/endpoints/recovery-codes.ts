import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { checkText } from '../../admin/endpoints/user-fields.ts'
import { requireMember } from '../member.ts'
import { notingFactorFailure } from '../note-failure.ts'
import {
  findRecoveryCodes,
  generateRecoveryCodes as generate,
  regenerateRecoveryCodes as regenerate,
  requireSecondLevel,
  requireSet,
  verifyRecoveryCode as verify,
} from '../recovery-codes.ts'
import { unenroll } from '../remove.ts'

const path = '/factors/recovery-codes'

export const countRecoveryCodes = defineEndpoint({
  method: 'GET',
  path,
  summary: 'How many recovery codes there are and how many are left',
  allowed: 'user',
  success: { status: 200, description: 'The numbers, without the codes' },
  async handle({ caller }, services) {
    return json(await findRecoveryCodes(services, requireMember(caller)))
  },
})

export const generateRecoveryCodes = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Makes recovery codes for a user at aal2 who has none',
  allowed: 'user',
  // Null: a request without a body.
  body: Type.Union([
    Type.Object({
      friendly_name: Type.Optional(
        Type.String({ description: 'Recovery codes, if none', maxLength: 255 }),
      ),
    }),
    Type.Null(),
  ]),
  success: { status: 200, description: 'The codes, which are shown only once' },
  async handle({ body, caller, client }, services) {
    const friendlyName = body?.friendly_name?.trim() ?? ''
    checkText('friendly_name', friendlyName)
    const member = requireMember(caller)
    return json(await generate(services, { member, client, friendlyName }))
  },
})

export const regenerateRecoveryCodes = defineEndpoint({
  method: 'POST',
  path: `${path}/regenerate`,
  summary: 'Replaces the recovery codes of a user at aal2',
  allowed: 'user',
  success: { status: 200, description: 'The codes, which are shown only once' },
  async handle({ caller, client }, services) {
    return json(await regenerate(services, { member: requireMember(caller), client }))
  },
})

export const verifyRecoveryCode = defineEndpoint({
  method: 'POST',
  path: `${path}/verify`,
  summary: 'Uses up a recovery code, which raises the session to aal2',
  allowed: 'user',
  limiter: 'mfa',
  body: Type.Object({
    code: Type.Optional(Type.String({ description: 'Case, spaces and hyphens do not matter' })),
  }),
  success: { status: 200, description: 'A token response' },
  async handle({ body: { code = '' }, caller, client, audience }, services) {
    const member = requireMember(caller)
    return json(
      await notingFactorFailure(services, { member, audience, client }, () =>
        verify(services, { member, client, code }),
      ),
    )
  },
})

export const removeRecoveryCodes = defineEndpoint({
  method: 'DELETE',
  path,
  summary: 'Removes the recovery codes of a user at aal2',
  allowed: 'user',
  success: { status: 200, description: 'The id of the factor that they were' },
  async handle({ caller, client }, services) {
    const member = requireMember(caller)
    const { id: factorId } = requireSet(member)
    requireSecondLevel(member, 'remove')
    const { id } = await unenroll(services, { member, factorId, ip: client.ip })
    return json({ id })
  },
})
