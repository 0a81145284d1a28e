import { randomBytes, randomUUID } from 'node:crypto'
import { ApiError, invalid } from '../../errors.ts'
import type { ExternalProvider } from '../../plugins/providers/oauth/provider.ts'
import type { Services } from '../../services.ts'
import type { Challenge } from '../sessions/pkce.ts'
import type { LinkingTarget } from './identities.ts'
import { hashSecret, toConfirmationUrl, toState } from './linking-confirmation.ts'
import { startFlow } from './statements/flow-states.ts'
import { type ClaimedFlow, claimExternalFlow, findInvited } from './statements/flows.ts'

/** A request to sign in with a provider or to link an identity. */
export interface ExternalRequest {
  readonly provider: ExternalProvider
  readonly scopes: readonly string[]
  /** Passed on to the provider. */
  readonly parameters: Readonly<Record<string, string>>
  readonly challenge: Challenge | undefined
  /** Already checked. */
  readonly redirectTo: string
  readonly audience: string
  /** The token from the link in an invitation. */
  readonly inviteToken: string | undefined
  /** The user who gets another identity; undefined for a sign-in. */
  readonly linking: LinkingTarget | undefined
  /**
   * Whether a script receives the URL. Browsers do not store cookies for scripts of other origins.
   */
  readonly isByScript: boolean
}

interface StartedRequest {
  /** Where the browser is redirected to. */
  readonly url: string
  readonly state: string
  /** For a cookie that the returning browser must present. Undefined when no cookie is required. */
  readonly browserSecret: string | undefined
}

/** Starts a sign-in with a provider. @throws {ApiError} */
export async function startExternal(
  services: Services,
  request: ExternalRequest,
): Promise<StartedRequest> {
  const { db } = services
  const now = new Date(services.now())
  const { provider, challenge, inviteToken } = request
  const inviteHash = inviteToken === undefined ? null : await findInvite(services, inviteToken, now)
  const state = randomUUID()
  const { scopes, parameters } = request
  const target = await provider.start({ state, scopes, parameters }).catch((cause: unknown) => {
    throw new ApiError('unexpected_failure', `Cannot reach ${provider.id}`, { cause })
  })
  const binding = findBinding(services, request)
  const browserSecret = binding === 'none' ? undefined : randomBytes(32).toString('base64url')
  await db.run(startFlow, {
    id: state,
    auth_code: randomUUID(),
    code_challenge: challenge?.challenge ?? null,
    code_challenge_method: challenge?.method ?? null,
    authentication_method: 'oauth',
    provider_type: provider.id,
    provider_memo: target.memo,
    aud: request.audience,
    referrer: request.redirectTo,
    browser_hash: browserSecret === undefined ? null : hashSecret(browserSecret),
    asks_scopes: scopes.length > 0 || services.config.api.compatMode === 'upstream',
    linking_target_id: request.linking?.userId ?? null,
    linking_session_id: request.linking?.sessionId ?? null,
    linking_step: binding === 'confirmation' ? 'unseen' : null,
    provider_url: binding === 'confirmation' ? target.url : null,
    invite_token_hash: inviteHash,
    now,
  })
  const url = binding === 'confirmation' ? toConfirmationUrl(services, state) : target.url
  return { url, state, browserSecret }
}

/**
 * How the returning browser proves that it started the flow: by a cookie; by a cookie that it gets
 * on our confirmation page; or, with PKCE, not here, because the code is useless without the
 * verifier. Request headers are not considered: an attacker who starts a flow for someone else
 * could send any. @throws {ApiError} when none of these is possible.
 */
function findBinding(
  services: Services,
  { linking, isByScript, challenge, provider }: ExternalRequest,
): 'cookie' | 'confirmation' | 'none' {
  const isBindable = canUseCookie(services, provider)
  if (linking === undefined || challenge !== undefined) {
    return isBindable && !isByScript ? 'cookie' : 'none'
  }
  if (!isBindable) {
    throw invalid(
      'Linking an identity requires the PKCE flow here: send code_challenge and code_challenge_method',
    )
  }
  return isByScript ? 'confirmation' : 'cookie'
}

/** A cookie of this host is not sent to another host, nor with a cross-site form without TLS. */
function canUseCookie({ config }: Services, provider: ExternalProvider): boolean {
  const here = new URL(config.api.externalUrl)
  const there = new URL(provider.redirectUri)
  const isSecure = here.protocol === 'https:'
  return here.host === there.host && (isSecure || !provider.returnsByForm)
}

async function findInvite({ db, oneTimeTokens }: Services, token: string, now: Date) {
  const tokenHash = oneTimeTokens.hashLink(token).toString('hex')
  const [invited] = await db.run(findInvited, { tokenHash, now })
  if (invited !== undefined) return tokenHash
  throw new ApiError('user_not_found', 'User identified by token not found')
}

/** The client that returns with a state. */
interface Visitor {
  /** From the cookie for this state. */
  readonly browserSecret: string | undefined
  /** Other clients keep no cookies, and no web page can make them send a request. */
  readonly isBrowser: boolean
}

/**
 * Claims the flow of a user who returns from a provider. A flow can be claimed only once.
 * @throws {ApiError}
 */
export async function claimExternal(
  services: Services,
  state: string,
  { browserSecret, isBrowser }: Visitor,
): Promise<ClaimedFlow> {
  const { db, config, now } = services
  const earliest = new Date(now() - config.externalFlow.stateLifetimeMs)
  const [flow] = await db.run(claimExternalFlow, {
    state: toState(state),
    browserHash: browserSecret === undefined ? null : hashSecret(browserSecret),
    earliest,
    now: new Date(now()),
    isBrowser,
  })
  if (flow?.is_claimed) return flow
  // The same error for an unknown state and for one of another browser.
  if (!flow?.is_bound) throw badState('OAuth state not found or expired')
  if (flow.claimed_at !== null) {
    throw new ApiError('flow_state_already_used', 'State has already been used')
  }
  if (Date.parse(flow.created_at) < earliest.getTime()) throw badState('OAuth state has expired')
  throw badState('OAuth state not found or expired')
}

function badState(message: string): ApiError {
  return new ApiError('bad_oauth_state', message)
}
