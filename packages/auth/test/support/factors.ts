import { Secret, TOTP } from 'otpauth'
import type { FlowServer } from './flow-server.ts'
import type { FrozenClock } from './frozen-clock.ts'
import { type HttpAnswer, newEmail, send } from './http-client.ts'

/** Enables every factor type and removes the limits that a test does not set. */
export const factorEnvironment = {
  AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: '1000000',
  AUTH_MFA_PHONE_ENROLL_ENABLED: 'true',
  AUTH_MFA_PHONE_VERIFY_ENABLED: 'true',
  // Nothing listens on this port, so messages stay in the outbox, where tests can read them.
  AUTH_SMS_PROVIDER: 'webhook',
  AUTH_SMS_WEBHOOK_URL: 'http://127.0.0.1:1/',
  AUTH_RATE_LIMIT_SMS_SENT: '1000000',
} as const

/** An authenticator app; each code is new, and the clock is advanced if necessary. */
export function createApp(secret: string, clock: FrozenClock) {
  const app = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6 })
  let last = 0
  const codeAt = (step: number) => app.generate({ timestamp: step * 30_000 })
  return {
    nextCode(): string {
      const present = () => Math.floor(clock.now() / 30_000)
      last = Math.max(last + 1, present())
      if (last > present() + 1) clock.aheadMs += 30_000
      return codeAt(last)
    },
    lastCode: () => codeAt(last),
    /** A code of no time step that would be accepted. */
    wrongCode(): string {
      const right = [-2, -1, 0, 1, 2, 3].map((delta) => codeAt(last + delta))
      return ['000000', '111111', '222222', '333333', '444444', '555555', '666666'].find(
        (code) => !right.includes(code),
      ) as string
    },
  }
}
export type App = ReturnType<typeof createApp>

/** A signed-in user with the current tokens. */
export interface SignedInUser {
  readonly id: string
  readonly email: string
  token: string
  refreshToken: string
}

export function createFactorCalls(server: FlowServer) {
  const { url, clock } = server
  const call = (who: Pick<SignedInUser, 'token'>, path: string, body: unknown = {}) =>
    send(url, path, { body, token: who.token })
  const take = (who: SignedInUser, answer: HttpAnswer) => {
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    who.token = answer.body.access_token
    who.refreshToken = answer.body.refresh_token
    return answer
  }
  const asAdmin = { authorization: `Bearer ${server.serviceToken}` }
  /** Signs in with a link, because hashing passwords would take most of the time. */
  const signIn = async (email: string) => {
    const link = await server.post('/admin/generate_link', { type: 'magiclink', email }, asAdmin)
    const { hashed_token: token_hash } = link.body
    const { body } = await server.post('/verify', { type: 'magiclink', token_hash })
    return { token: body.access_token as string, refreshToken: body.refresh_token as string }
  }
  const newSignedInUser = async (): Promise<SignedInUser> => {
    const email = newEmail()
    const { body } = await server.post('/admin/users', { email, email_confirm: true }, asAdmin)
    return { id: body.id, email, ...(await signIn(email)) }
  }
  const challenge = (who: Pick<SignedInUser, 'token'>, factorId: string, body: unknown = {}) =>
    call(who, `/factors/${factorId}/challenge`, body)
  /** Requests a challenge and answers it. */
  const answer = async (who: Pick<SignedInUser, 'token'>, factorId: string, code: string) => {
    const { body } = await challenge(who, factorId)
    return call(who, `/factors/${factorId}/verify`, { challenge_id: body.id, code })
  }
  return {
    call,
    take,
    signIn,
    challenge,
    answer,
    enroll: (who: Pick<SignedInUser, 'token'>, body: unknown = { factor_type: 'totp' }) =>
      call(who, '/factors', body),
    unenroll: (who: Pick<SignedInUser, 'token'>, factorId: string) =>
      send(url, `/factors/${factorId}`, { method: 'DELETE', token: who.token }),
    user: async (who: Pick<SignedInUser, 'token'>) =>
      (await send(url, '/user', { token: who.token })).body,
    refresh: (refreshToken: string) =>
      server.post('/token?grant_type=refresh_token', { refresh_token: refreshToken }),
    newSignedInUser,
    /** Creates a user with a verified TOTP factor, in a session at aal2. */
    async newMember(): Promise<SignedInUser & { readonly factorId: string; readonly app: App }> {
      const who = await newSignedInUser()
      const { body } = await call(who, '/factors', { factor_type: 'totp' })
      const app = createApp(body.totp.secret, clock)
      take(who, await answer(who, body.id, app.nextCode()))
      return Object.assign(who, { factorId: body.id as string, app })
    },
  }
}

export function claimsOf(token: string) {
  const [, payload = ''] = token.split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString())
}

export function methodsOf(token: string): readonly string[] {
  return claimsOf(token).amr.map(({ method }: { method: string }) => method)
}
