import { ApiError, invalid } from '../../errors.ts'
import { type Answer, redirect } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import {
  toErrorParameters,
  toTokenParameters,
  withFragment,
  withQuery,
} from '../redirects/redirect-location.ts'
import { findRedirectTarget } from '../redirects/redirect-target.ts'
import { pkcePrefix } from './one-time-tokens.ts'
import { isEmailVerification, type Verified, verifyEmail, verifyMessages } from './verify.ts'

export const verifyGet = defineEndpoint({
  method: 'GET',
  path: '/verify',
  summary: 'Follows the link of a message, and goes on to the site',
  allowed: 'anyone',
  limiter: 'verify',
  query: {
    type: 'signup, invite, recovery, magiclink or email_change',
    token: 'That of the link',
    redirect_to: 'Where to go; otherwise to the site',
  },
  success: {
    status: 303,
    description: 'To the site, with tokens in the fragment, or with the code of a PKCE flow',
  },
  async handle(call, services) {
    const { type = '', token_hash: hash = '' } = call.query
    const token = hash || (call.query['token'] ?? '')
    if (token === '') throw invalid('Verify requires a token or a token hash')
    if (type === '') throw invalid('Verify requires a verification type')
    const target = findRedirectTarget(call, services.redirects)
    if (isPrefetch(call.header)) return notNow
    const isPkce = token.startsWith(pkcePrefix)
    try {
      if (!isEmailVerification(type)) throw invalid('Invalid email verification type')
      const verified = await verifyEmail(services, {
        type,
        proof: { how: 'link', token },
        wantsCode: isPkce,
        asksPassword: false,
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

/** A browser that only looks ahead must not use the link up: its user may never follow it. */
function isPrefetch(header: (name: string) => string | undefined): boolean {
  return ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    /\b(?:prefetch|preview)\b/i.test(header(name) ?? ''),
  )
}

/** Not a success, which the browser would keep for when the link is followed. */
const notNow: Answer = { status: 503 }
