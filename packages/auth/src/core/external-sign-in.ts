import { createHash, randomBytes, randomUUID } from 'node:crypto'
import {
  type ClaimedFlow,
  claimExternalFlow,
  findInvited,
  type NewExternalFlow,
  startExternalFlow,
} from '../db/external-flows.ts'
import { ApiError } from '../errors.ts'
import type { ExternalProvider } from './external-provider.ts'
import type { Challenge } from './pkce.ts'
import type { Services } from './services.ts'

/** Somebody wants to sign in through a provider, or to link an identity there. */
export interface ExternalRequest {
  readonly provider: ExternalProvider
  readonly scopes: readonly string[]
  /** For the provider. */
  readonly parameters: Readonly<Record<string, string>>
  readonly challenge: Challenge | undefined
  /** Checked already. */
  readonly redirectTo: string
  readonly audience: string
  /** Of the link in an invitation. */
  readonly inviteToken: string | undefined
  /** The user who gets one more identity. */
  readonly linkingTargetId: string | undefined
  /** Whether the browser that goes to the provider can be given a cookie. */
  readonly hasCookies: boolean
}

export interface StartedRequest {
  /** Where the browser goes. */
  readonly url: string
  readonly state: string
  /** For a cookie: who comes back with the state must have it. Undefined: anybody may. */
  readonly browserSecret: string | undefined
}

/** Reference 3.17. @throws {ApiError} */
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
    throw new ApiError('unexpected_failure', `${provider.id} cannot be reached`, { cause })
  })
  const browserSecret = isBindable(services, request)
    ? randomBytes(32).toString('base64url')
    : undefined
  const flow: NewExternalFlow = {
    id: state,
    auth_code: randomUUID(),
    code_challenge: challenge?.challenge ?? null,
    code_challenge_method: challenge?.method ?? null,
    provider_type: provider.id,
    provider_memo: target.memo,
    aud: request.audience,
    referrer: request.redirectTo,
    browser_hash: browserSecret === undefined ? null : hashSecret(browserSecret),
    asks_scopes: scopes.length > 0,
    linking_target_id: request.linkingTargetId ?? null,
    invite_token_hash: inviteHash,
    now,
  }
  await db.run(startExternalFlow, [flow])
  return { url: target.url, state, browserSecret }
}

/**
 * A cookie of this host does not come back to another, nor by the form of another site without TLS.
 * Headers have no say in this: who starts a flow for somebody else could write what they like.
 */
function isBindable({ config }: Services, { hasCookies, provider }: ExternalRequest): boolean {
  const here = new URL(config.api.externalUrl)
  const there = new URL(provider.redirectUri)
  const isSecure = here.protocol === 'https:'
  return hasCookies && here.host === there.host && (isSecure || !provider.returnsByForm)
}

function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

async function findInvite({ db, oneTimeTokens }: Services, token: string, now: Date) {
  const hash = oneTimeTokens.hashLink(token).toString('hex')
  const [invited] = await db.run(findInvited, [hash, now])
  if (invited !== undefined) return hash
  throw new ApiError('user_not_found', 'User identified by token not found')
}

/** Who comes back with a state. */
export interface Visitor {
  /** That of the cookie for this state. */
  readonly browserSecret: string | undefined
  /** Others keep no cookies, and no page of somebody else can send them here. */
  readonly isBrowser: boolean
}

/**
 * The flow of somebody who has come back, which nobody can claim again.
 * @throws {ApiError}
 */
export async function claimExternal(
  services: Services,
  state: string,
  { browserSecret, isBrowser }: Visitor,
): Promise<ClaimedFlow> {
  const { db, config, now } = services
  if (state === '') throw new ApiError('bad_oauth_callback', 'OAuth state parameter missing')
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(state)) {
    throw badState('OAuth state parameter is invalid')
  }
  const earliest = new Date(now() - config.externalFlow.stateLifetimeMs)
  const [flow] = await db.run<ClaimedFlow>(claimExternalFlow, [
    state,
    browserSecret === undefined ? null : hashSecret(browserSecret),
    earliest,
    new Date(now()),
    isBrowser,
  ])
  if (flow?.is_claimed) return flow
  // The same for what never was and for what is not for this browser.
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
