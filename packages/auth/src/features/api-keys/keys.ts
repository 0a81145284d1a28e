import { randomUUID } from 'node:crypto'
import type { Page } from '../../db/statement.ts'
import { ApiError, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { checkText, type Metadata } from '../../stored-json.ts'
import { type Administrator, toAdminAction } from '../audit/admin-action.ts'
import { type AuditAction, toAuditEntry } from '../audit/audit.ts'
import { isBelowLevel, type Person } from '../sessions/assurance-level.ts'
import { createKeyText, toHint, toKeyHash } from './key-text.ts'
import {
  type ApiKeyRow,
  addApiKey,
  listApiKeys,
  listUserKeys,
  lockKeyOwner,
  removeApiKey,
  rotateApiKey,
} from './statements.ts'

/** Who changes keys: a user their own, or an administrator those of everyone. */
export type KeyManager = { readonly user: Person; readonly ip: string } | Administrator

export interface KeyFields {
  readonly name?: string
  readonly scopes?: readonly string[]
  readonly expires_at?: string | null
}

export interface NewKeyFields extends KeyFields {
  readonly user_id?: string
  readonly service_account_id?: string
  readonly plan?: string
}

/** The key as it is returned to clients. */
function toKeyRecord(key: ApiKeyRow, text?: string): Metadata {
  return {
    id: key.id,
    ...(key.user_id !== null && { user_id: key.user_id }),
    ...(key.service_account_id !== null && { service_account_id: key.service_account_id }),
    name: key.name,
    hint: key.hint,
    scopes: key.scopes,
    plan: key.plan,
    expires_at: key.expires_at,
    last_used_at: key.last_used_at,
    rotated_at: key.rotated_at,
    ...(key.previous_until !== null && { previous_until: key.previous_until }),
    created_at: key.created_at,
    ...(text !== undefined && { api_key: text }),
  }
}

/**
 * An attacker with a stolen session must not get a key that outlives it without the second factor.
 * @throws {ApiError}
 */
export function requireKeyOwner({ config }: Services, user: Person): void {
  if (!config.apiKeys.enabled) {
    throw new ApiError('feature_disabled', 'API keys of users are disabled')
  }
  if (user.is_anonymous || user.session_id === null) {
    throw new ApiError('no_authorization', 'Sign in to manage API keys', { status: 403 })
  }
  if (isBelowLevel(user)) {
    throw new ApiError('insufficient_aal', 'AAL2 required to manage API keys')
  }
}

/** The keys of a user, oldest first. @throws {ApiError} */
export async function getOwnKeys(services: Services, user: Person): Promise<readonly Metadata[]> {
  requireKeyOwner(services, user)
  const keys = await services.db.run(listUserKeys, { userId: user.id })
  return keys.map((key) => toKeyRecord(key))
}

interface KeysPage {
  readonly keys: readonly Metadata[]
  /** The number of keys on all pages. */
  readonly total: number
}

/** A page of keys, newest first. @param owner null: of every user or service account. */
export async function getKeys(
  { db }: Services,
  owner: { readonly userId: string | null; readonly serviceAccountId: string | null },
  { size, offset }: Page,
): Promise<KeysPage> {
  const rows = await db.run(listApiKeys, { ...owner, limit: size, offset })
  const keys = rows.flatMap((row) => (row.id === null ? [] : [toKeyRecord(row)]))
  return { keys, total: rows[0]?.total ?? 0 }
}

/** The secret is returned once and cannot be read again. @throws {ApiError} */
export async function createKey(
  services: Services,
  fields: NewKeyFields,
  manager: KeyManager,
): Promise<Metadata> {
  const { db, now, config } = services
  const id = randomUUID()
  const text = createKeyText(id)
  const { user_id: userId = null, service_account_id: serviceAccountId = null } = fields
  if ((userId === null) === (serviceAccountId === null)) {
    throw invalid('Exactly one of user_id and service_account_id is required')
  }
  const key = {
    user_id: userId,
    service_account_id: serviceAccountId,
    name: parseLabel('name', fields.name),
    hint: toHint(text),
    secret_hash: toKeyHash(text).toString('hex'),
    scopes: parseScopes(services, fields.scopes ?? [], 'adminRole' in manager),
    plan: fields.plan === undefined ? null : parseLabel('plan', fields.plan),
    expires_at: parseExpiry(fields.expires_at ?? null, now()),
    most: config.apiKeys.mostPerOwner,
    ...toChange(services, 'api_key_created', id, manager),
  }
  const added = await db.transaction(async (queries) => {
    // Two statements, so that the second one counts keys that were added during the wait for the lock.
    const [owner] = await queries.run(lockKeyOwner, { userId, serviceAccountId })
    if (owner === undefined) throw new ApiError('user_not_found', 'The owner does not exist')
    return await queries.run(addApiKey, key)
  })
  const [row] = added
  if (row === undefined) {
    throw new ApiError('too_many_api_keys', 'Maximum number of API keys reached')
  }
  return toKeyRecord(row, text)
}

/** The longest time for which two secrets of a key are valid. */
const longestOverlapSeconds = 30 * 86_400

/** Replaces the secret; the previous one stays valid for some time. @throws {ApiError} */
export async function rotateKey(
  services: Services,
  id: string,
  overlapSeconds: number,
  manager: KeyManager,
): Promise<Metadata> {
  const isValid =
    Number.isInteger(overlapSeconds) &&
    overlapSeconds >= 0 &&
    overlapSeconds <= longestOverlapSeconds
  if (!isValid) {
    throw invalid(`overlap_seconds must be a whole number from 0 to ${longestOverlapSeconds}`)
  }
  const text = createKeyText(id)
  const untilMs = services.now() + overlapSeconds * 1_000
  const [row] = await services.db.run(rotateApiKey, {
    user_id: toOwnerId(manager),
    hint: toHint(text),
    secret_hash: toKeyHash(text).toString('hex'),
    previous_until: overlapSeconds === 0 ? null : new Date(untilMs),
    ...toChange(services, 'api_key_rotated', id, manager),
  })
  return toKeyRecord(requireKey(row), text)
}

/** @throws {ApiError} */
export async function revokeKey(
  services: Services,
  id: string,
  manager: KeyManager,
): Promise<void> {
  const [row] = await services.db.run(removeApiKey, {
    user_id: toOwnerId(manager),
    ...toChange(services, 'api_key_revoked', id, manager),
  })
  requireKey(row)
}

function toOwnerId(manager: KeyManager): string | null {
  return 'user' in manager ? manager.user.id : null
}

function toChange(services: Services, action: AuditAction, id: string, manager: KeyManager) {
  const traits = { key_id: id }
  if (!('user' in manager)) return { id, ...toAdminAction(services, action, manager, traits) }
  const audit = toAuditEntry(action, manager.user, traits)
  return { id, now: new Date(services.now()), ip: manager.ip, audit }
}

/** A key of another user is reported like one that does not exist. @throws {ApiError} */
function requireKey(row: ApiKeyRow | undefined): ApiKeyRow {
  if (row !== undefined) return row
  throw new ApiError('api_key_not_found', 'API key not found')
}

const longestLabel = 120

/** @throws {ApiError} */
export function parseLabel(name: string, text = ''): string {
  const label = text.trim()
  if (label === '') throw invalid(`${name} is required`)
  if ([...label].length > longestLabel) {
    throw invalid(`${name} must be ${longestLabel} characters or less`)
  }
  checkText(name, label)
  return label
}

const mostScopes = 50

/** @param isAdmin may give scopes that users cannot give themselves. @throws {ApiError} */
function parseScopes(
  { config }: Services,
  scopes: readonly string[],
  isAdmin: boolean,
): readonly string[] {
  // The characters that RFC 6749, section 3.3, allows.
  const isScope = (scope: string) => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(scope)
  if (scopes.length > mostScopes || !scopes.every(isScope)) {
    throw invalid(`scopes must be at most ${mostScopes} words of 1 to 100 ASCII characters`)
  }
  const { scopes: allowed } = config.apiKeys
  const refused = isAdmin ? undefined : scopes.find((scope) => !allowed.includes(scope))
  if (refused !== undefined)
    throw invalid(`The scope "${refused}" is not one of AUTH_API_KEYS_SCOPES`)
  return [...new Set(scopes)]
}

/** @throws {ApiError} */
function parseExpiry(text: string | null, nowMs: number): Date | null {
  if (text === null) return null
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  if (ms > nowMs) return new Date(ms)
  throw invalid('expires_at must be a future time such as 2030-01-31T12:00:00Z')
}
