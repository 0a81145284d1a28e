import { type ApiError, invalid } from '../../errors.ts'
import {
  countStoredBytes,
  type Metadata,
  mergeMetadata,
  omitKeys,
  toMetadata,
} from '../../stored-json.ts'

interface Limited {
  readonly config: {
    readonly metadata: { readonly mostUserBytes: number; readonly mostAppBytes: number }
  }
}

type Body = Readonly<Record<string, unknown>> | undefined

/**
 * Keys of user_metadata that the server writes itself, from verified data. Users cannot change
 * them.
 */
export const reservedKeys: ReadonlySet<string> = new Set([
  'sub',
  'email',
  'email_verified',
  'phone_verified',
])

/** The metadata that new users send about themselves. @throws {ApiError} */
export function parseOwnMetadata(services: Limited, body: Body): Metadata {
  return omitKeys(parseUserMetadata(services, body), reservedKeys)
}

/**
 * The changes that users send. The size is checked after the merge, because null removes keys.
 * @throws {ApiError}
 */
export function parseOwnChange(body: Body): Metadata {
  return omitKeys(toMetadata(body), reservedKeys)
}

/** The user_metadata that an administrator sets for a new user. @throws {ApiError} */
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

/** The changes of a statement; null leaves the metadata unchanged. */
export interface MetadataChange {
  readonly user_metadata: Metadata | null
  readonly app_metadata: Metadata | null
}

/**
 * Checks the size after the merge. Metadata that is already too large may stay so or shrink, but
 * not grow. The statement checks this again because of concurrent requests.
 * @throws {ApiError}
 */
export function checkMetadataSize(
  { config }: Limited,
  user: { readonly raw_user_meta_data: Metadata; readonly raw_app_meta_data: Metadata },
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
