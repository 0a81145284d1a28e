import type { TestContext } from 'node:test'
import { createVerifier, type RevocationOptions, TokenError } from '../../src/verify/index.ts'
import { jwtSecret } from './auth-server.ts'
import { until } from './outbox.ts'

/** A verifier that receives revocations until the end of the test. */
export function openRevokingVerifier(t: TestContext, revocation: RevocationOptions) {
  const verifier = createVerifier({
    secret: jwtSecret,
    audience: '',
    revocation: { warn: false, ...revocation },
  })
  t.after(() => verifier.close())
  /** `accepted`, or the reason why the token is refused. */
  const judge = async (token: string): Promise<string> => {
    try {
      await verifier.verify(token)
      return 'accepted'
    } catch (error) {
      if (error instanceof TokenError) return error.code
      throw error
    }
  }
  return {
    verifier,
    judge,
    untilRevoked: (token: string) => until(async () => (await judge(token)) === 'revoked_token'),
  }
}
