import { parseEmail, parsePhone } from '../../addresses.ts'
import { ApiError, invalid } from '../../errors.ts'
import { type Answer, type Call, json, redirect } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { type Static, Type } from '../../http/schema.ts'
import { checkPassword } from '../../passwords/password-policy.ts'
import type { Services } from '../../services.ts'
import { pkcePrefix } from '../../tokens/one-time-tokens.ts'
import {
  findRedirectTarget,
  toErrorParameters,
  toTokenParameters,
  withFragment,
  withQuery,
} from '../redirects/redirect-location.ts'
import {
  type EmailVerificationType,
  isEmailVerification,
  isPhoneVerification,
  type Proof,
  type Verified,
  verifyEmail,
  verifyMessages,
  verifyPhone,
} from './verify.ts'

export const verifyGet = defineEndpoint({
  method: 'GET',
  path: '/verify',
  summary: 'Handles the link in a message and redirects to the site',
  allowed: 'anyone',
  limiter: 'verify',
  query: {
    type: 'signup, invite, recovery, magiclink or email_change',
    token: 'The token from the link',
    redirect_to: 'URL to redirect to. Default: the Referer if it is permitted, otherwise SITE_URL',
  },
  success: {
    status: 303,
    description:
      'Redirect to the site, with tokens in the fragment or with the code of a PKCE flow',
  },
  async handle(call, services) {
    const { type = '', token_hash: hash = '' } = call.query
    const token = hash || (call.query['token'] ?? '')
    if (token === '') throw invalid('Verify requires a token or a token hash')
    if (type === '') throw invalid('Verify requires a verification type')
    const target = findRedirectTarget(call, services.redirects)
    if (isPrefetch(call.header)) return prefetchResponse
    const isPkce = token.startsWith(pkcePrefix)
    try {
      if (!isEmailVerification(type)) throw invalid('Invalid email verification type')
      const verified = await verifyEmail(services, {
        type,
        proof: { how: 'link', token },
        wantsCode: isPkce,
        requiresPassword: false,
        password: undefined,
        client: call.client,
      })
      return redirect(toLocation(target, verified, isPkce))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const parameters = toErrorParameters(error)
      const base = isPkce ? withQuery(target, parameters) : target
      return { ...redirect(withFragment(base, parameters)), failure: error }
    }
  },
})

function toLocation(target: string, verified: Verified, isPkce: boolean): string {
  if (verified.outcome === 'code') return withQuery(target, { code: verified.code })
  if (verified.outcome === 'tokens') {
    return withFragment(target, toTokenParameters(verified.tokens, { type: verified.type }))
  }
  const message = { message: verifyMessages[verified.outcome] }
  return withFragment(isPkce ? withQuery(target, message) : target, message)
}

/** A prefetch must not use up the link, because the user may never follow it. */
function isPrefetch(header: (name: string) => string | undefined): boolean {
  return ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    /\b(?:prefetch|preview)\b/i.test(header(name) ?? ''),
  )
}

/** An error, because browsers would reuse a successful response when the user follows the link. */
const prefetchResponse: Answer = { status: 503 }

const body = Type.Object({
  type: Type.Optional(
    Type.String({
      description: 'signup, invite, recovery, magiclink, email, email_change, sms or phone_change',
    }),
  ),
  token: Type.Optional(
    Type.String({
      description: 'The code, together with email or phone; without them, the token of a link',
    }),
  ),
  token_hash: Type.Optional(Type.String({ description: 'The token from a link' })),
  email: Type.Optional(Type.String({ description: 'Email address to which the code was sent' })),
  phone: Type.Optional(Type.String({ description: 'Phone number to which the code was sent' })),
  password: Type.Optional(
    Type.String({ description: 'For a user without a password. Required for the type signup' }),
  ),
  redirect_to: Type.Optional(Type.String()),
})
type Body = Static<typeof body>

export const verifyPost = defineEndpoint({
  method: 'POST',
  path: '/verify',
  summary: 'Exchanges the token of a link, or a code, for tokens',
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
      if (verified.outcome !== 'tokens') throw new TypeError(`${type} did not open a session`)
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
      requiresPassword: type === 'signup',
      password: await readPassword(call.body, type, services),
      client: call.client,
    })
    if (verified.outcome === 'tokens') return json({ ...verified.tokens, type: verified.type })
    if (verified.outcome === 'code') throw new TypeError(`${type} did not open a session`)
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
  // Without a recipient, `token` is the token of a link.
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

/**
 * Only users who sign up or accept an invitation may lack a password. For other types, the password
 * in the request is ignored.
 */
async function readPassword(
  { password = '' }: Body,
  type: EmailVerificationType,
  { passwordPolicy }: Services,
): Promise<string | undefined> {
  if (password === '' || (type !== 'signup' && type !== 'invite')) return undefined
  await checkPassword(password, passwordPolicy)
  return password
}
