import { invalid } from '../../errors.ts'
import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { Type } from '../../http/schema.ts'
import { readRecipients } from '../../messages/requests/daily-codes.ts'
import { factorKindNames } from '../../plugins/factors/index.ts'
import { checkText } from '../../stored-json.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import { challenge } from './challenge.ts'
import { enroll, unenroll } from './enrollment.ts'
import { requireMember } from './member.ts'
import {
  findRecoveryCodes,
  generateRecoveryCodes as generate,
  regenerateRecoveryCodes as regenerate,
  requireRecoverySet,
  requireSecondLevel,
  verifyRecoveryCode as verifyCode,
} from './recovery-codes.ts'
import { notingFactorFailure, verifyFactor as verify } from './verify.ts'

/** For example `totp, phone or webauthn`. */
const kindList = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(factorKindNames)

export const enrollFactor = defineEndpoint({
  method: 'POST',
  path: '/factors',
  summary: 'Enrolls a second factor, which must then be verified',
  allowed: 'user',
  body: Type.Object({
    factor_type: Type.Optional(Type.String({ description: kindList })),
    friendly_name: Type.Optional(
      Type.String({ description: 'A name to distinguish factors', maxLength: 255 }),
    ),
    issuer: Type.Optional(
      Type.String({
        description: 'Issuer shown by authenticator apps. Default: the host of SITE_URL',
      }),
    ),
    phone: Type.Optional(Type.String({ description: 'Number of a phone factor (E.164)' })),
  }),
  success: {
    status: 200,
    description: 'The factor, with the data its owner needs to set it up, such as the TOTP secret',
  },
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

export const challengeFactor = defineEndpoint({
  method: 'POST',
  path: '/factors/:factor_id/challenge',
  summary: 'Creates a challenge for a factor. For a phone factor, sends a code',
  allowed: 'user',
  limiter: 'mfa',
  sendsCodesTo({ params, caller }) {
    const factor = caller.factors.find(({ id }) => id === readFactorId(params))
    return readRecipients({ phone: factor?.phone ?? '' })
  },
  // A request without a body is parsed as null.
  body: Type.Union([
    Type.Object({
      channel: Type.Optional(Type.String({ description: 'For a phone factor: sms or whatsapp' })),
      webauthn: Type.Optional(Type.Unknown()),
    }),
    Type.Null(),
  ]),
  success: { status: 200, description: 'The challenge and its expiry' },
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

export const verifyFactor = defineEndpoint({
  method: 'POST',
  path: '/factors/:factor_id/verify',
  summary: 'Verifies the answer to a challenge and raises the session to aal2',
  allowed: 'user',
  limiter: 'mfa',
  body: Type.Object({
    challenge_id: Type.Optional(Type.String()),
    code: Type.Optional(Type.String({ description: 'The code from the app or the message' })),
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

export const unenrollFactor = defineEndpoint({
  method: 'DELETE',
  path: '/factors/:factor_id',
  summary: 'Removes a factor. Sessions that were verified with it drop to aal1',
  allowed: 'user',
  success: { status: 200, description: 'The ID of the factor' },
  async handle({ params, caller, client }, services) {
    const factorId = readFactorId(params)
    const member = requireMember(caller)
    const { id } = await unenroll(services, { member, factorId, ip: client.ip })
    return json({ id })
  },
})

const recoveryCodesPath = '/factors/recovery-codes'

export const countRecoveryCodes = defineEndpoint({
  method: 'GET',
  path: recoveryCodesPath,
  summary: 'Returns the number of recovery codes and how many are unused',
  allowed: 'user',
  success: { status: 200, description: 'The counts, without the codes' },
  async handle({ caller }, services) {
    return json(await findRecoveryCodes(services, requireMember(caller)))
  },
})

export const generateRecoveryCodes = defineEndpoint({
  method: 'POST',
  path: recoveryCodesPath,
  summary: 'Generates recovery codes for a user at aal2 who has none',
  allowed: 'user',
  // A request without a body is parsed as null.
  body: Type.Union([
    Type.Object({
      friendly_name: Type.Optional(
        Type.String({ description: 'Default: Recovery codes', maxLength: 255 }),
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
  path: `${recoveryCodesPath}/regenerate`,
  summary: 'Replaces the recovery codes of a user at aal2',
  allowed: 'user',
  success: { status: 200, description: 'The codes, which are shown only once' },
  async handle({ caller, client }, services) {
    return json(await regenerate(services, { member: requireMember(caller), client }))
  },
})

export const verifyRecoveryCode = defineEndpoint({
  method: 'POST',
  path: `${recoveryCodesPath}/verify`,
  summary: 'Uses a recovery code and raises the session to aal2',
  allowed: 'user',
  limiter: 'mfa',
  body: Type.Object({
    code: Type.Optional(Type.String({ description: 'Case, spaces and hyphens are ignored' })),
  }),
  success: { status: 200, description: 'A token response' },
  async handle({ body: { code = '' }, caller, client, audience }, services) {
    const member = requireMember(caller)
    return json(
      await notingFactorFailure(services, { member, audience, client }, () =>
        verifyCode(services, { member, client, code }),
      ),
    )
  },
})

export const removeRecoveryCodes = defineEndpoint({
  method: 'DELETE',
  path: recoveryCodesPath,
  summary: 'Removes the recovery codes of a user at aal2',
  allowed: 'user',
  success: { status: 200, description: 'The ID of the removed factor' },
  async handle({ caller, client }, services) {
    const member = requireMember(caller)
    const { id: factorId } = requireRecoverySet(member)
    requireSecondLevel(member, 'remove')
    const { id } = await unenroll(services, { member, factorId, ip: client.ip })
    return json({ id })
  },
})

/** Reads the factor ID from the path. @throws {ApiError} */
export function readFactorId(params: Readonly<Record<string, string>>): string {
  const id = params['factor_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw invalid('factor_id must be an UUID', { status: 404 })
}
