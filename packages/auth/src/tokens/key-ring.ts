import { createSecretKey, type KeyObject } from 'node:crypto'

/** docs/auth-operations.md, "Keys", explains the purpose of each key. */
export const keyNames = [
  'refresh_tokens',
  'one_time_tokens',
  'factor_secrets',
  'message_gaps',
  'accounts',
  'decoy_ids',
  'proof_nonces',
] as const
export type KeyName = (typeof keyNames)[number]

/**
 * The versions of a key that all processes of a database share. They are key objects, because
 * Node.js takes several times as long for an HMAC whose key is a buffer.
 */
export interface KeyRing {
  /** The version that is used for new secrets. */
  current(): KeyObject
  /** All valid versions, newest first. Another process may already use the newest. */
  all(): readonly KeyObject[]
}

/** @param newest the version that is used for new secrets. */
export function createKeyRing(newest: Buffer, ...older: readonly Buffer[]): KeyRing {
  const current = createSecretKey(newest)
  const all = [current, ...older.map((key) => createSecretKey(key))]
  return { current: () => current, all: () => all }
}
