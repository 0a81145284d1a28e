import type { Config } from '../../config/config.ts'
import { type ApiError, invalid } from '../../errors.ts'
import { type Metadata, mergeMetadata, toMetadata } from './metadata.ts'
import type { UserRow } from './statements/user-row.ts'
import { countStoredBytes } from './stored-size.ts'

interface Limited {
  readonly config: Pick<Config, 'metadata'>
}

type Body = Readonly<Record<string, unknown>> | undefined

/**
 * What the server itself writes into user_metadata, from what it has verified (reference 3.3). Users
 * who send these keys change nothing about them.
 */
const reserved: ReadonlySet<string> = new Set(['sub', 'email', 'email_verified', 'phone_verified'])

/** What new users say about themselves. @throws {ApiError} */
export function parseOwnMetadata(services: Limited, body: Body): Metadata {
  return omitKeys(parseUserMetadata(services, body), reserved)
}

/** What users change about themselves. Its size is that of the result: null removes. @throws {ApiError} */
export function parseOwnChange(body: Body): Metadata {
  return omitKeys(toMetadata(body), reserved)
}

export function omitKeys(data: Metadata, keys: ReadonlySet<string>): Metadata {
  return Object.fromEntries(Object.entries(data).filter(([key]) => !keys.has(key)))
}

/** The user_metadata that an administrator gives a new user. @throws {ApiError} */
export function parseUserMetadata({ config }: Limited, body: Body): Metadata {
  const data = toMetadata(body)
  const most = config.metadata.mostUserBytes
  if (countStoredBytes(data) > most) throw tooLarge('user_metadata', most)
  return data
}

/** @throws {ApiError} */
export function parseAppMetadata({ config }: Limited, body: Body): Metadata {
  const data = toMetadata(body)
  const most = config.metadata.mostAppBytes
  if (countStoredBytes(data) > most) throw tooLarge('app_metadata', most)
  return data
}

/** What a statement changes; null stays. */
export interface MetadataChange {
  readonly user_metadata: Metadata | null
  readonly app_metadata: Metadata | null
}

/**
 * The size after the merge counts. Metadata that were too large before there was a limit may stay so
 * and may shrink, and nothing else. The statement checks it as well, for requests at the same time.
 * @throws {ApiError}
 */
export function checkMetadataSize(
  { config }: Limited,
  user: Pick<UserRow, 'raw_user_meta_data' | 'raw_app_meta_data'>,
  change: Partial<MetadataChange>,
): void {
  const { mostUserBytes, mostAppBytes } = config.metadata
  if (grows(user.raw_user_meta_data, change.user_metadata, mostUserBytes)) {
    throw tooLarge('user_metadata', mostUserBytes)
  }
  if (grows(user.raw_app_meta_data, change.app_metadata, mostAppBytes)) {
    throw tooLarge('app_metadata', mostAppBytes)
  }
}

function grows(before: Metadata, change: Metadata | null | undefined, most: number): boolean {
  if (!change) return false
  const bytes = countStoredBytes(mergeMetadata(before, change))
  return bytes > most && bytes > countStoredBytes(before)
}

function tooLarge(name: string, mostBytes: number): ApiError {
  return invalid(`${name} must not be larger than ${mostBytes} bytes`, { status: 422 })
}
