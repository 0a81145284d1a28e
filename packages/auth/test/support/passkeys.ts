import { createFactorCalls, factorEnvironment, type SignedInUser } from './factors.ts'
import type { FlowServer } from './flow-server.ts'
import { type HttpAnswer, send } from './http-client.ts'
import {
  type AuthenticatorSettings,
  createAuthenticator,
  type Overrides,
  type SoftwareAuthenticator,
} from './software-authenticator.ts'

/**
 * Enables passkeys and WebAuthn factors for the test site and removes the limits that a test does
 * not set.
 */
export const passkeyEnvironment = {
  ...factorEnvironment,
  AUTH_SITE_URL: 'https://app.example.com/home',
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_RATE_LIMIT_PASSKEY: '1000000',
  AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'true',
  AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: 'true',
} as const

export const siteOrigin = 'https://app.example.com'

export function newAuthenticator(settings: Partial<AuthenticatorSettings> = {}) {
  return createAuthenticator({ rpId: 'app.example.com', origin: siteOrigin, ...settings })
}

export function createPasskeyCalls(server: FlowServer) {
  const { url, post } = server
  const factors = createFactorCalls(server)
  const registrationOptions = (who: Pick<SignedInUser, 'token'>) =>
    factors.call(who, '/passkeys/registration/options')
  const finishRegistration = (who: Pick<SignedInUser, 'token'>, body: unknown) =>
    factors.call(who, '/passkeys/registration/verify', body)
  const signInOptions = () => post('/passkeys/authentication/options', {})
  const finishSignIn = (body: unknown) => post('/passkeys/authentication/verify', body)
  const register = async (
    who: Pick<SignedInUser, 'token'>,
    authenticator: SoftwareAuthenticator,
    overrides: Overrides & { readonly id?: string } = {},
  ): Promise<HttpAnswer> => {
    const { body } = await registrationOptions(who)
    const credential = authenticator.create(body.options, overrides)
    return finishRegistration(who, { challenge_id: body.challenge_id, credential })
  }
  return {
    ...factors,
    registrationOptions,
    finishRegistration,
    register,
    signInOptions,
    finishSignIn,
    async signInWith(
      authenticator: SoftwareAuthenticator,
      overrides: Overrides = {},
    ): Promise<HttpAnswer> {
      const { body } = await signInOptions()
      const credential = authenticator.get(body.options, overrides)
      return finishSignIn({ challenge_id: body.challenge_id, credential })
    },
    list: (who: Pick<SignedInUser, 'token'>) => send(url, '/passkeys', { token: who.token }),
    rename: (who: Pick<SignedInUser, 'token'>, id: string, body: unknown) =>
      send(url, `/passkeys/${id}`, { method: 'PATCH', body, token: who.token }),
    remove: (who: Pick<SignedInUser, 'token'>, id: string) =>
      send(url, `/passkeys/${id}`, { method: 'DELETE', token: who.token }),
    /** Creates a user with a passkey, and the authenticator that holds it. */
    async newOwner(settings: Partial<AuthenticatorSettings> = {}) {
      const authenticator = newAuthenticator(settings)
      const who = await factors.newSignedInUser()
      const { body } = await register(who, authenticator)
      return Object.assign(who, { authenticator, passkeyId: body.id as string })
    },
  }
}
