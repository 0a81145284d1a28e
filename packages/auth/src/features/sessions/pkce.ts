import { createHash, timingSafeEqual } from 'node:crypto'
import { invalid } from '../../errors.ts'

export interface Challenge {
  readonly challenge: string
  readonly method: 's256' | 'plain'
}

/** Undefined when the request does not use PKCE. @throws {ApiError} */
export function parseChallenge(
  challenge: string | undefined = '',
  method: string | undefined = '',
): Challenge | undefined {
  if (challenge === '' && method === '') return undefined
  if (challenge === '' || method === '') {
    throw invalid('PKCE flow requires code_challenge_method and code_challenge')
  }
  if (challenge.length < 43 || challenge.length > 128) {
    throw invalid('code challenge has to be between 43 and 128 characters')
  }
  if (!/^[\w.~-]+$/.test(challenge)) {
    throw invalid(
      'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
    )
  }
  const known = method.toLowerCase()
  if (known !== 's256' && known !== 'plain') {
    throw invalid('code challenge method must be s256 or plain')
  }
  return { challenge, method: known }
}

export function matchesVerifier({ challenge, method }: Challenge, verifier: string): boolean {
  const actual =
    method === 's256' ? createHash('sha256').update(verifier).digest('base64url') : verifier
  const [a, b] = [Buffer.from(actual), Buffer.from(challenge)]
  return a.length === b.length && timingSafeEqual(a, b)
}
