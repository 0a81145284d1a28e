import { ApiError } from '../../../errors.ts'
import { type Answer, type Call, json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { type Static, Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { exchangeKey } from '../../api-keys/use-key.ts'
import { signInByIdToken } from '../../external/id-token-sign-in.ts'
import { checkManualLinking, type LinkingTarget, requireLinker } from '../../external/identities.ts'
import { findRedirectTarget } from '../../redirects/redirect-location.ts'
import { findUserOfClaims, readBearer } from '../../sessions/bearer.ts'
import { unknownToken } from '../../sessions/refresh.ts'
import { requireWallets, signInByWallet } from '../../web3/web3-sign-in.ts'
import { exchangeCode } from '../code-exchange.ts'
import { signInByPassword } from '../password-sign-in.ts'

/** The body of POST /token for all grants. */
const body = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  refresh_token: Type.Optional(Type.String()),
  auth_code: Type.Optional(Type.String()),
  code_verifier: Type.Optional(Type.String()),
  provider: Type.Optional(Type.String()),
  id_token: Type.Optional(
    Type.String({ description: 'ID token that the provider issued to an app' }),
  ),
  access_token: Type.Optional(
    Type.String({ description: 'Access token that was issued with the ID token' }),
  ),
  nonce: Type.Optional(
    Type.String({ description: 'The nonce whose SHA-256 hash is in the ID token' }),
  ),
  link_identity: Type.Optional(
    Type.Boolean({ description: 'Links the identity to the signed-in user instead of signing in' }),
  ),
  client_id: Type.Optional(
    Type.String({ description: 'Together with issuer, instead of provider' }),
  ),
  issuer: Type.Optional(Type.String()),
  api_key: Type.Optional(Type.String()),
  chain: Type.Optional(Type.String({ description: 'Blockchain of a wallet: ethereum or solana' })),
  message: Type.Optional(
    Type.String({ description: 'Message that a wallet has signed, in the format of EIP-4361' }),
  ),
  signature: Type.Optional(
    Type.String({ description: 'In hexadecimal for Ethereum, in base64 for Solana' }),
  ),
})

/** Grants with credentials that could be tried out in bulk need a CAPTCHA. */
const captchaGrants: ReadonlySet<string> = new Set(['password', 'web3'])

export const token = defineEndpoint({
  method: 'POST',
  path: '/token',
  summary:
    'Exchanges a password, a refresh token, a code, an ID token, a message of a wallet or an API key for tokens',
  allowed: 'anyone',
  requires: (services, query) => {
    if (findGrantName(query) === 'web3') requireWallets(services)
  },
  limiter: (_body, query) => (findGrantName(query) === 'web3' ? 'web3' : 'token'),
  captcha: ({ grant_type: name = '' }) => captchaGrants.has(name),
  query: { grant_type: 'password, refresh_token, pkce, id_token, web3 or api_key' },
  body,
  success: { status: 200, description: 'A token response' },
  async handle(call, services) {
    const { grant_type: name = '' } = call.query
    const grant = Object.hasOwn(grants, name) ? grants[name] : undefined
    if (grant === undefined) throw new ApiError('invalid_credentials', 'unsupported_grant_type')
    return grant(call, services)
  },
})

type GrantCall = Call<Static<typeof body>>
type Grant = (call: GrantCall, services: Services) => Promise<Answer>

/** The grants by the value of `grant_type`. */
const grants: Readonly<Record<string, Grant>> = {
  async password({ body, audience, client }, services) {
    const { email = '', phone = '', password = '' } = body
    return json(await signInByPassword(services, { email, phone, password, audience, client }))
  },

  async refresh_token({ body, client, isSdk }, { sessions }) {
    const refreshed = sessions.refresh(body.refresh_token ?? '', client)
    const { response, onSent } = await (isSdk ? refreshed.catch(rejectAsUnknown) : refreshed)
    return { ...json(response), onSent }
  },

  async pkce({ body, client, externalUrl }, services) {
    const { auth_code: code = '', code_verifier: verifier = '' } = body
    return json(await exchangeCode(services, { code, verifier, client, externalUrl }))
  },

  async id_token(call, services) {
    const { body, audience, client, externalUrl } = call
    const linking = body.link_identity ? await findTarget(call, services) : undefined
    return json(
      await signInByIdToken(services, {
        idToken: body.id_token ?? '',
        provider: body.provider ?? '',
        clientId: body.client_id ?? '',
        issuer: body.issuer ?? '',
        nonce: body.nonce ?? '',
        accessToken: body.access_token ?? '',
        linking,
        audience,
        client,
        redirectTo: findRedirectTarget(call, services.redirects),
        externalUrl,
      }),
    )
  },

  /** A program gets no refresh token, because it can show its key again. */
  async api_key({ body }, services) {
    return json(await exchangeKey(services, body.api_key ?? ''))
  },

  async web3(call, services) {
    const { body, audience, client, externalUrl } = call
    const { chain = '', message = '', signature = '' } = body
    const redirectTo = findRedirectTarget(call, services.redirects)
    return json(
      await signInByWallet(services, {
        chain,
        message,
        signature,
        audience,
        client,
        redirectTo,
        externalUrl,
      }),
    )
  },
}

/** The first value counts if the parameter occurs several times. */
function findGrantName({ grant_type: name }: Readonly<Record<string, unknown>>): unknown {
  return Array.isArray(name) ? name[0] : name
}

/**
 * Supabase Auth deletes sessions that have ended, so that it does not know their tokens. Its
 * clients expect the error for an unknown token.
 */
function rejectAsUnknown(error: unknown): never {
  throw error instanceof ApiError && error.code === 'session_not_found' ? unknownToken() : error
}

/** Only linking requires a signed-in user. */
async function findTarget(call: GrantCall, services: Services): Promise<LinkingTarget> {
  checkManualLinking(services)
  const claims = readBearer(call.header('authorization'), services.signer, services.now())
  const user = await findUserOfClaims(claims, services)
  requireLinker(services, user)
  return { userId: user.id, sessionId: user.session_id }
}
