import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError, invalid } from '../../errors.ts'
import {
  type ExternalProfile,
  ProfileError,
  toEmails,
} from '../../plugins/providers/oauth/external-profile.ts'
import {
  type ExternalIdTokens,
  type ExternalProvider,
  type IdTokenClaims,
  IdTokenError,
  type IdTokenSource,
} from '../../plugins/providers/oauth/provider.ts'
import type { Services } from '../../services.ts'
import { findRegistered, isCustom, openProvider } from '../custom-providers/find-provider.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import type { ProviderSignIn } from './account-changes.ts'
import { findOrCreateAccount } from './external-accounts.ts'
import { noEmail } from './external-return.ts'
import { type LinkingTarget, linkIdentity } from './identities.ts'

/** The request of an app that has signed a user in with the provider's own SDK. */
interface IdTokenRequest {
  readonly idToken: string
  readonly provider: string
  /** Older apps send these two instead of the provider. */
  readonly clientId: string
  readonly issuer: string
  readonly nonce: string
  readonly accessToken: string
  /** The user who gets the identity; undefined for a sign-in. */
  readonly linking: LinkingTarget | undefined
  readonly audience: string
  readonly client: Client
  readonly redirectTo: string
  readonly externalUrl: string
}

/** Handles the grant `id_token`. @throws {ApiError} */
export async function signInByIdToken(
  services: Services,
  request: IdTokenRequest,
): Promise<TokenResponse> {
  if (request.idToken === '') throw refused('id_token required')
  const { provider, idTokens } = await findSource(services, request)
  const claims = await idTokens.verify(request.idToken).catch((error: unknown) => {
    if (error instanceof IdTokenError) throw refused(error.message, error)
    const message = `Cannot fetch the keys of ${provider.id}`
    throw new ApiError('unexpected_failure', message, { cause: error })
  })
  if (!idTokens.skipsNonce) checkNonce(claims, request.nonce)
  checkAccessToken(claims, request)
  const user = await findUser(services, request, provider, readProfile(idTokens, claims))
  const { client } = request
  return services.sessions.open({ user, method: 'oauth', provider: provider.id, client })
}

/**
 * Finds a configured provider, or an issuer that the operator allows. Other issuers that a client
 * names are not trusted.
 */
async function findSource(services: Services, request: IdTokenRequest): Promise<IdTokenSource> {
  const { providers } = services
  const { clientId, issuer } = request
  if (isCustom(request.provider)) return findCustomSource(services, request.provider)
  if (request.provider !== '') {
    const known = providers.findIssuer(request.provider, peekIssuer(request.idToken))
    if (known === undefined) throw notAllowed(request.provider)
    if (!providers.isEnabled(request.provider)) throw notEnabled(known)
    return withIdTokens(providers.find(request.provider))
  }
  if (clientId === '' || issuer === '') {
    throw refused('provider or client_id and issuer required')
  }
  const provider = providers.enabled.find(({ idTokens }) => idTokens?.isIssuer(issuer))
  if (provider === undefined) {
    const allowed = providers.findAllowedIssuer(issuer, clientId)
    if (allowed === undefined) throw notEnabled(issuer)
    return allowed
  }
  if (!provider.clientIds.includes(clientId)) {
    throw refused(`Unacceptable audience in id_token: [${clientId.slice(0, 200)}]`)
  }
  return withIdTokens(provider)
}

async function findCustomSource(services: Services, name: string): Promise<IdTokenSource> {
  const row = await findRegistered(services, name)
  const issuer = row?.settings.issuer ?? undefined
  if (row === undefined || issuer === undefined) throw notAllowed(name)
  if (!row.settings.enabled) throw notEnabled(issuer)
  return withIdTokens(await openProvider(services, row))
}

function notAllowed(provider: string): ApiError {
  return invalid(`Custom OIDC provider "${provider.slice(0, 100)}" not allowed`)
}

function notEnabled(issuer: string): ApiError {
  const message = `Provider (issuer "${issuer.slice(0, 200)}") is not enabled`
  return new ApiError('provider_disabled', message)
}

/** Reads the issuer without verifying the token, for an error message. */
function peekIssuer(idToken: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(
      Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString(),
    )
    const { iss } = Object(claims) as IdTokenClaims
    return typeof iss === 'string' ? iss : undefined
  } catch {
    return undefined
  }
}

function withIdTokens(provider: ExternalProvider): IdTokenSource {
  const { id, idTokens } = provider
  if (idTokens === undefined) throw notAllowed(id)
  return { provider, idTokens }
}

/**
 * The token contains the nonce's hash, so a stolen token is useless without the nonce that the app
 * kept.
 */
function checkNonce({ nonce: claimed }: IdTokenClaims, nonce: string): void {
  const hasClaim = claimed !== undefined && claimed !== ''
  if (hasClaim !== (nonce !== '')) {
    throw refused('Passed nonce and nonce in id_token should either both exist or not.')
  }
  if (!hasClaim) return
  const expected = createHash('sha256').update(nonce).digest('hex')
  if (typeof claimed !== 'string' || !isSame(claimed, expected)) {
    throw new ApiError('invalid_credentials', 'Nonces mismatch', { oauthError: 'invalid nonce' })
  }
}

/** OpenID Connect Core, section 3.1.3.6: the access token must belong to the ID token. */
function checkAccessToken({ at_hash: claimed }: IdTokenClaims, request: IdTokenRequest): void {
  if (request.accessToken === '' || claimed === undefined || claimed === null) return
  if (typeof claimed !== 'string') throw refused('Bad ID token: at_hash must be a string')
  const hash = createHash(readHashName(request.idToken)).update(request.accessToken).digest()
  const expected = hash.subarray(0, hash.length / 2).toString('base64url')
  if (!isSame(claimed, expected)) throw refused('Bad ID token')
}

/** The hash of the signature algorithm. The signature has already been verified. */
function readHashName(idToken: string): 'sha256' | 'sha384' | 'sha512' {
  const header = JSON.parse(Buffer.from(idToken.split('.')[0] ?? '', 'base64url').toString())
  const { alg } = header as { alg: string }
  if (alg.endsWith('384')) return 'sha384'
  return alg.endsWith('256') ? 'sha256' : 'sha512'
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function readProfile(idTokens: ExternalIdTokens, claims: IdTokenClaims): ExternalProfile {
  try {
    const profile = idTokens.toProfile(claims)
    return { ...profile, emails: toEmails(profile.emails) }
  } catch (error) {
    if (error instanceof ProfileError) throw refused(`Bad ID token: ${error.message}`, error)
    throw error
  }
}

function findUser(
  services: Services,
  { linking, ...request }: IdTokenRequest,
  provider: IdTokenSource['provider'],
  profile: ExternalProfile,
): Promise<UserRow> {
  const account: ProviderSignIn = { ...request, provider, profile }
  if (linking !== undefined) return linkIdentity(services, linking, account)
  if (profile.emails.length === 0 && !provider.isEmailOptional) throw noEmail()
  return findOrCreateAccount(services, account)
}

function refused(message: string, cause?: unknown): ApiError {
  return invalid(message, { oauthError: 'invalid request', cause })
}
