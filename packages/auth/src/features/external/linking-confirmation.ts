import { createHash, randomBytes } from 'node:crypto'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import {
  agreeToLinking,
  cancelLinking,
  type OpenedLinking,
  openLinking,
} from './statements/flows.ts'

/**
 * The page to which a script sends its browser to link an identity without PKCE. A script of
 * another origin cannot receive a cookie, so the browser cannot be distinguished from one to which
 * an attacker sent the URL. The page therefore asks the user.
 */
export function toConfirmationUrl({ config }: Services, state: string): string {
  return `${config.api.externalUrl}/user/identities/confirm?state=${state}`
}

/** A browser that opens the URL. */
interface LinkingVisit {
  readonly state: string
  /** From the cookie for this state. */
  readonly browserSecret: string | undefined
}

interface Confirmation extends OpenedLinking {
  /** For a new cookie; undefined when the browser already has it. */
  readonly newSecret: string | undefined
}

/** @throws {ApiError} */
export async function openConfirmation(
  services: Services,
  { state, browserSecret }: LinkingVisit,
): Promise<Confirmation> {
  const newSecret = randomBytes(32).toString('base64url')
  const [opened] = await services.db.run(openLinking, {
    state: toState(state),
    browserHash: browserSecret === undefined ? null : hashSecret(browserSecret),
    earliest: findEarliest(services),
    newBrowserHash: hashSecret(newSecret),
  })
  if (opened === undefined) throw noLinking()
  return { ...opened, newSecret: opened.is_same ? undefined : newSecret }
}

/** @returns the URL of the provider. @throws {ApiError} */
export async function agree(services: Services, visit: LinkingVisit): Promise<string> {
  const [agreed] = await services.db.run(agreeToLinking, toKeys(services, visit))
  if (agreed === undefined) throw noLinking()
  return agreed.provider_url
}

/** @returns the redirect target of the request. @throws {ApiError} */
export async function cancel(services: Services, visit: LinkingVisit): Promise<string> {
  const [gone] = await services.db.run(cancelLinking, toKeys(services, visit))
  if (gone === undefined) throw noLinking()
  return gone.referrer
}

function toKeys(services: Services, { state, browserSecret = '' }: LinkingVisit) {
  return {
    state: toState(state),
    browserHash: hashSecret(browserSecret),
    earliest: findEarliest(services),
  }
}

function findEarliest({ config, now }: Services): Date {
  return new Date(now() - config.externalFlow.stateLifetimeMs)
}

/** @throws {ApiError} when the state is not a UUID, which PostgreSQL would reject. */
export function toState(state: string): string {
  if (state === '') throw new ApiError('bad_oauth_callback', 'OAuth state parameter missing')
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(state)) return state
  throw new ApiError('bad_oauth_state', 'OAuth state parameter is invalid')
}

/** The same error for an unknown state, a finished flow, and a flow of another browser. */
function noLinking(): ApiError {
  return new ApiError('bad_oauth_state', 'OAuth state not found or expired')
}

/** The hash under which cookies are stored. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
