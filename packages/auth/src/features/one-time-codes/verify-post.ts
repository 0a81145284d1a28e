import { invalid } from '../../errors.ts'
import { type Call, json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { type Static, Type } from '../../http/schema.ts'
import { checkPassword } from '../../passwords/password-policy.ts'
import type { Services } from '../../services.ts'
import { findRedirectTarget } from '../redirects/redirect-target.ts'
import { parseEmail } from '../users/email-address.ts'
import { parsePhone } from '../users/phone-number.ts'
import {
  type EmailVerificationType,
  isEmailVerification,
  isPhoneVerification,
  type Proof,
  verifyEmail,
  verifyMessages,
  verifyPhone,
} from './verify.ts'

const body = Type.Object({
  type: Type.Optional(
    Type.String({
      description: 'signup, invite, recovery, magiclink, email, email_change, sms or phone_change',
    }),
  ),
  token: Type.Optional(
    Type.String({ description: 'The digits, with who got them; alone, the token of a link' }),
  ),
  token_hash: Type.Optional(Type.String({ description: 'The token of a link' })),
  email: Type.Optional(Type.String({ description: 'Where the digits were sent to' })),
  phone: Type.Optional(Type.String({ description: 'Where the digits were sent to' })),
  password: Type.Optional(
    Type.String({ description: 'Of a user who has none yet: signup requires it' }),
  ),
  redirect_to: Type.Optional(Type.String()),
})
type Body = Static<typeof body>

export const verifyPost = defineEndpoint({
  method: 'POST',
  path: '/verify',
  summary: 'Exchanges the token of a link, or digits that were sent, for tokens',
  allowed: 'anyone',
  limiter: 'verify',
  body,
  success: { status: 200, description: 'A token response' },
  async handle(call, services) {
    const { type = '' } = call.body
    if (type === '') throw invalid('Verify requires a verification type')
    const proof = readProof(call)
    findRedirectTarget(call, services.redirects, call.body.redirect_to)
    if (isPhoneVerification(type) && proof.how === 'digits' && (call.body.phone ?? '') !== '') {
      const verified = await verifyPhone(services, { type, proof, client: call.client })
      if (verified.outcome !== 'tokens') throw new TypeError(`${type} has opened no session`)
      return json(verified.tokens)
    }
    if (!isEmailVerification(type)) {
      const kind = proof.how === 'link' ? 'Invalid email' : 'Unsupported'
      throw invalid(`${kind} verification type`)
    }
    const verified = await verifyEmail(services, {
      type,
      proof,
      wantsCode: false,
      asksPassword: type === 'signup',
      password: await readPassword(call.body, type, services),
      client: call.client,
    })
    if (verified.outcome === 'tokens') return json({ ...verified.tokens, type: verified.type })
    if (verified.outcome === 'code') throw new TypeError(`${type} has opened no session`)
    return json({ code: '200', msg: verifyMessages[verified.outcome] })
  },
})

function readProof({ body, audience }: Call<Body>): Proof {
  const { type = '', token = '', token_hash: hash = '', email = '', phone = '', redirect_to } = body
  if ((token === '') === (hash === '')) {
    throw invalid('Verify requires either a token or a token hash')
  }
  if (hash !== '') {
    if (email !== '' || phone !== '' || (redirect_to ?? '') !== '') {
      throw invalid('Only the token_hash and type should be provided')
    }
    return { how: 'link', token: hash }
  }
  if (email !== '' && phone !== '') {
    throw invalid('Only an email address or phone number should be provided on verify')
  }
  if (phone !== '') {
    const recipient = parsePhone(phone)
    if (!isPhoneVerification(type)) throw invalid('Unsupported verification type')
    return { how: 'digits', digits: token, recipient, audience }
  }
  if (email === '' && isPhoneVerification(type)) {
    throw invalid('Type provided requires a phone number')
  }
  // Alone, as the specification shows it, it is the token of a link (D8).
  if (email === '') return { how: 'link', token }
  return { how: 'digits', digits: token, recipient: readEmail(email), audience }
}

function readEmail(email: string): string {
  try {
    return parseEmail(email)
  } catch {
    throw invalid('Invalid email format', { status: 422 })
  }
}

/** Only where a user may still have none (D9); elsewhere it is ignored. */
async function readPassword(
  { password = '' }: Body,
  type: EmailVerificationType,
  { passwordPolicy }: Services,
): Promise<string | undefined> {
  if (password === '' || (type !== 'signup' && type !== 'invite')) return undefined
  await checkPassword(password, passwordPolicy)
  return password
}
