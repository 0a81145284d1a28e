import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import type { Claims } from '../../tokens/json-web-token.ts'
import { createAccessToken } from '../sessions/access-tokens.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import { isSameHash, parseKeyText, toSecretId } from './key-text.ts'
import { findShownKey, type ShownKeyRow, touchApiKey } from './statements.ts'

/** How often the last use of a key is recorded. */
const touchMs = 60_000

/** A key that a caller has shown. */
export interface ShownKey extends ShownKeyRow {
  /** The ID of the secret in the text. */
  readonly secretId: string
  /** When the secret in the text ends: with the key, or with the overlap of a rotation. Infinite: never. */
  readonly endsMs: number
}

/**
 * Finds the key of a caller. Undefined for every kind of invalid key, so that responses do not
 * reveal which keys exist.
 */
export async function findKey({ db, now }: Services, text: string): Promise<ShownKey | undefined> {
  const shown = parseKeyText(text)
  if (shown === undefined) return undefined
  const [key] = await db.run(findShownKey, { id: shown.id })
  const nowMs = now()
  const isCurrent = isSameHash(shown.hash, key?.secret_hash ?? null)
  const isPrevious = isSameHash(shown.hash, key?.previous_hash ?? null)
  if (key === undefined || !isUsable(key, nowMs)) return undefined
  const previousMs = key.previous_until === null ? 0 : Date.parse(key.previous_until)
  if (!isCurrent && !(isPrevious && previousMs > nowMs)) return undefined
  const before = new Date(nowMs - touchMs)
  if (key.last_used_at === null || Date.parse(key.last_used_at) < before.getTime()) {
    // Nothing depends on it, so the caller does not wait for it, and a failure is not reported.
    db.run(touchApiKey, { id: key.id, now: new Date(nowMs), before }).catch(() => {})
  }
  const expiryMs = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at)
  const endsMs = isCurrent ? expiryMs : Math.min(expiryMs, previousMs)
  return { ...key, secretId: toSecretId(shown.hash), endsMs }
}

/** The claims of an access token that a key was exchanged for. */
export type KeyClaims = Claims & { readonly key_id: string }

export function areKeyClaims(claims: Claims): claims is KeyClaims {
  return typeof claims['key_id'] === 'string' && uuidPattern.test(claims['key_id'])
}

/** Finds the key that was exchanged for a token. Undefined if the key or the token is no longer valid. */
export async function findExchangedKey(
  { db, now }: Services,
  { key_id: id, session_id: secretId }: KeyClaims,
): Promise<ShownKeyRow | undefined> {
  const [key] = await db.run(findShownKey, { id })
  if (key === undefined || !isUsable(key, now())) return undefined
  const hashes = [key.secret_hash, ...(key.previous_hash === null ? [] : [key.previous_hash])]
  return hashes.some((hash) => toSecretId(hash) === secretId) ? key : undefined
}

/** Whether the key has not expired, and its owner may use it. */
function isUsable(key: ShownKeyRow, nowMs: number): boolean {
  const isAfter = (time: string | null) => time !== null && Date.parse(time) > nowMs
  const hasExpired = key.expires_at !== null && !isAfter(key.expires_at)
  return !hasExpired && key.deleted_at === null && !isAfter(key.banned_until)
}

/** What a service needs to know about a valid key. */
export function toActiveKey(key: ShownKeyRow): Metadata {
  return {
    active: true,
    key_id: key.id,
    sub: toSubject(key),
    ...(key.user_id !== null && { user_id: key.user_id }),
    ...(key.service_account_id !== null && { service_account_id: key.service_account_id }),
    role: key.role,
    scopes: key.scopes,
    plan: toPlan(key),
    expires_at: key.expires_at,
  }
}

/** Exchanges a key for a short access token. @throws {ApiError} */
export async function exchangeKey(services: Services, text: string): Promise<Metadata> {
  const key = await findKey(services, text)
  if (key === undefined) throw new ApiError('invalid_api_key', 'Invalid API key')
  const { config, signer, now } = services
  const token = createAccessToken(signer, toKeyClaims(config, key, now()))
  return {
    access_token: token.text,
    token_type: 'bearer',
    expires_in: token.expiresInSeconds,
    expires_at: token.expiresAtSeconds,
  }
}

/** The session ID is not one of a session, so this server refuses the token, and a key cannot change its user. */
function toKeyClaims(
  { tokens, apiKeys }: Services['config'],
  key: ShownKey,
  nowMs: number,
): Claims {
  const iat = Math.floor(nowMs / 1_000)
  const seconds = Math.min(apiKeys.tokenSeconds, tokens.expiresInSeconds)
  const endSeconds = Math.floor(key.endsMs / 1_000)
  const plan = toPlan(key)
  return {
    ...(tokens.issuer !== undefined && { iss: tokens.issuer }),
    sub: toSubject(key),
    aud: key.audience ?? tokens.audience,
    iat,
    exp: Math.max(iat + 1, Math.min(iat + seconds, endSeconds)),
    role: key.role,
    key_id: key.id,
    scope: key.scopes.join(' '),
    ...(plan !== null && { plan }),
    // Rules that read the plan of a user from here apply to keys as well.
    app_metadata: { ...key.app_metadata, ...(plan !== null && { plan }) },
    aal: 'aal1',
    amr: [{ method: 'api_key', timestamp: iat }],
    session_id: key.secretId,
    is_anonymous: key.is_anonymous ?? false,
  }
}

export function toSubject({ user_id: userId, service_account_id: accountId }: ShownKeyRow): string {
  return userId ?? accountId ?? ''
}

/** The plan of the key, or else of its owner. Only administrators can change these. */
export function toPlan({
  plan,
  owner_plan: ownerPlan,
  app_metadata: metadata,
}: ShownKeyRow): string | null {
  const ofUser = metadata?.['plan']
  return plan ?? ownerPlan ?? (typeof ofUser === 'string' ? ofUser : null)
}
