import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { ApiError, invalid } from '../../errors.ts'
import type { ExternalProfile } from '../../plugins/providers/oauth/external-profile.ts'
import type { Assertion } from '../../saml/assertion.ts'
import { type IdentityProvider, peekIssuer } from '../../saml/identity-provider.ts'
import { decodeResponse, type ReceivedResponse, readResponse } from '../../saml/response.ts'
import { SamlError } from '../../saml/saml-error.ts'
import {
  createSignInRequest,
  nameIdFormats,
  type ServiceProvider,
  toDecryptionKeys,
} from '../../saml/service-provider.ts'
import type { Services } from '../../services.ts'
import { plainFlow, startFlow } from '../external/statements/flow-states.ts'
import type { Challenge } from '../sessions/pkce.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import { findOrCreateSsoUser } from './accounts.ts'
import { toProfile } from './claims.ts'
import { findNewerIdentityProvider, openIdentityProvider } from './metadata.ts'
import {
  checkEnabled,
  chooseProvider,
  getProvider,
  getProviderOfEntity,
  mayVouchFor,
} from './providers.ts'
import {
  type ClaimedSsoFlow,
  claimSsoFlow,
  issueSsoCode,
  useAssertion,
} from './statements/flows.ts'
import type { SsoProviderRow } from './statements/providers.ts'

/** The method in the claim `amr`. */
export const samlMethod = 'sso/saml'

interface SsoRequest {
  readonly provider_id?: string
  readonly domain?: string
  readonly challenge: Challenge | undefined
  /** Already checked. */
  readonly redirectTo: string
  readonly audience: string
  /** Whether the browser can keep a cookie, which it must present when it returns. */
  readonly keepsCookie: boolean
}

interface StartedSso {
  readonly url: string
  readonly state: string
  readonly browserSecret: string | undefined
}

/** Starts a sign-in with an identity provider. @throws {ApiError} */
export async function startSso(services: Services, request: SsoRequest): Promise<StartedSso> {
  const serviceProvider = requireServiceProvider(services)
  const provider = await chooseProvider(services, request)
  const { signInUrl } = await openIdentityProvider(services, provider)
  const now = new Date(services.now())
  const state = randomUUID()
  const { id: requestId, url } = createSignInRequest(serviceProvider, {
    signInUrl,
    relayState: state,
    nameIdFormat: provider.name_id_format ?? nameIdFormats.persistent,
    now,
  })
  const browserSecret = request.keepsCookie ? randomBytes(32).toString('base64url') : undefined
  await services.db.run(startFlow, {
    ...plainFlow,
    id: state,
    auth_code: randomUUID(),
    code_challenge: request.challenge?.challenge ?? null,
    code_challenge_method: request.challenge?.method ?? null,
    authentication_method: samlMethod,
    provider_type: toIdentityName(provider),
    provider_memo: { request_id: requestId },
    aud: request.audience,
    referrer: request.redirectTo,
    browser_hash: browserSecret === undefined ? null : hashText(browserSecret),
    now,
  })
  return { url, state, browserSecret }
}

/** A response that a browser has posted. */
interface PostedResponse {
  readonly samlResponse: string
  /** Our own flow; undefined if the identity provider started the sign-in. */
  readonly flow: ClaimedSsoFlow | undefined
  readonly client: Client
  readonly audience: string
  readonly redirectTo: string
  readonly externalUrl: string
}

export type SsoResult =
  | { readonly outcome: 'code'; readonly code: string }
  | { readonly outcome: 'tokens'; readonly tokens: TokenResponse; readonly provider: string }

/**
 * Claims the flow of a browser that returns with a state. A flow can be claimed only once.
 * @throws {ApiError}
 */
export async function claimSso(
  { db, config, now }: Services,
  state: string,
  browserSecret: string | undefined,
): Promise<ClaimedSsoFlow> {
  const earliest = new Date(now() - config.saml.relayStateMs)
  const [flow] = await db.run(claimSsoFlow, {
    state,
    browserHash: browserSecret === undefined ? null : hashText(browserSecret),
    earliest,
    now: new Date(now()),
  })
  if (flow?.is_claimed) return flow
  // The same error for an unknown state, a used one, and one of another browser.
  const isExpired =
    flow !== undefined && flow.is_bound && Date.parse(flow.created_at) < earliest.getTime()
  if (isExpired) {
    const message = 'SAML RelayState has expired. Try logging in again?'
    throw new ApiError('saml_relay_state_expired', message)
  }
  const message = 'SAML RelayState does not exist, try logging in again?'
  throw new ApiError('saml_relay_state_not_found', message)
}

/** Signs the user of a response in. @throws {ApiError} */
export async function finishSso(services: Services, posted: PostedResponse): Promise<SsoResult> {
  const { flow, client } = posted
  const response = decode(posted.samlResponse)
  const provider = await findProvider(services, flow, response)
  const assertion = await verify(services, provider, response, flow?.request_id)
  await markUsed(services, provider, assertion)
  const profile = await readProfile(services, assertion, provider)
  const user = await findOrCreateSsoUser(services, {
    ...posted,
    provider: { id: toIdentityName(provider), isEmailOptional: false },
    profile,
  })
  const { sessionNotAfterMs: endMs } = assertion
  const notAfter = endMs === undefined ? undefined : new Date(endMs)
  if (flow !== undefined && flow.code_challenge !== null) {
    const [issued] = await services.db.run(issueSsoCode, {
      flowId: flow.id,
      userId: user.id,
      notAfter: notAfter ?? null,
      now: new Date(services.now()),
    })
    if (issued !== undefined) return { outcome: 'code', code: issued.auth_code }
    throw new ApiError('flow_state_already_used', 'State has already been used')
  }
  const login = { user, method: samlMethod, provider: provider.id, client, notAfter }
  const tokens = await services.sessions.open(login)
  return { outcome: 'tokens', tokens, provider: toIdentityName(provider) }
}

async function readProfile(
  services: Services,
  assertion: Assertion,
  provider: SsoProviderRow,
): Promise<ExternalProfile> {
  const { attribute_mapping: mapping, entity_id: entityId } = provider
  const { emails, ...profile } = toProfile(assertion, mapping, entityId)
  const checked = emails.map(async (each) => {
    return { ...each, isVerified: await mayVouchFor(services, provider, each.email) }
  })
  return { ...profile, emails: await Promise.all(checked) }
}

/** `sso:` and the ID, as the provider is named in identities and in `app_metadata`. */
export function toIdentityName({ id }: Pick<SsoProviderRow, 'id'>): string {
  return `sso:${id}`
}

/** @throws {ApiError} if SAML is disabled. */
export function requireServiceProvider({ serviceProvider }: Services): ServiceProvider {
  if (serviceProvider !== undefined) return serviceProvider
  throw new ApiError('saml_provider_disabled', 'SAML 2.0 is disabled')
}

function decode(samlResponse: string): ReceivedResponse {
  if (samlResponse === '') throw invalid('SAMLResponse is missing')
  try {
    return decodeResponse(samlResponse)
  } catch (error) {
    throw toInvalidAssertion(error)
  }
}

/** A flow names its provider; otherwise, the response does. */
async function findProvider(
  services: Services,
  flow: ClaimedSsoFlow | undefined,
  { root }: ReceivedResponse,
): Promise<SsoProviderRow> {
  if (flow !== undefined) {
    return checkEnabled(await getProvider(services, flow.provider_type.slice('sso:'.length)))
  }
  if (!services.config.saml.allowsUnsolicited) {
    throw invalid('Start the sign-in at the application: sign-in from the provider is not allowed')
  }
  return await getProviderOfEntity(services, readIssuer(root))
}

function readIssuer(root: ReceivedResponse['root']): string {
  try {
    return peekIssuer(root) ?? ''
  } catch (error) {
    throw toInvalidAssertion(error)
  }
}

/** If no known key has signed the response, the metadata may be out of date. */
async function verify(
  services: Services,
  provider: SsoProviderRow,
  response: ReceivedResponse,
  requestId: string | undefined,
): Promise<Assertion> {
  const current = await openIdentityProvider(services, provider)
  try {
    return check(services, current, response, requestId)
  } catch (error) {
    const newer = isKeyUnknown(error)
      ? await findNewerIdentityProvider(services, provider)
      : undefined
    if (newer === undefined) throw toInvalidAssertion(error)
    try {
      return check(services, newer, response, requestId)
    } catch (again) {
      throw toInvalidAssertion(again)
    }
  }
}

function check(
  services: Services,
  { entityId, signingKeys }: IdentityProvider,
  response: ReceivedResponse,
  requestId: string | undefined,
): Assertion {
  const serviceProvider = requireServiceProvider(services)
  return readResponse(response, {
    entityId,
    signingKeys,
    requestId,
    audience: serviceProvider.entityId,
    recipient: serviceProvider.acsUrl,
    decryptionKeys: toDecryptionKeys(serviceProvider),
    nowMs: services.now(),
  })
}

function isKeyUnknown(error: unknown): boolean {
  return error instanceof SamlError && error.isKeyUnknown
}

/** An assertion is used once, even if the browser posts it to several processes at the same time. */
async function markUsed(
  { db }: Services,
  provider: SsoProviderRow,
  assertion: Assertion,
): Promise<void> {
  const [used] = await db.run(useAssertion, {
    providerId: provider.id,
    idHash: hashText(assertion.id),
    expiresAt: new Date(assertion.notAfterMs),
  })
  if (used === undefined) throw invalid('SAML Assertion has already been used')
}

function toInvalidAssertion(error: unknown): unknown {
  if (!(error instanceof SamlError)) return error
  return invalid(`SAML Assertion is not valid: ${error.message}`, { cause: error })
}

/** In hexadecimal. */
function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
