/** docs/auth-operations.md, "Keys", explains the purpose of each key. */
export const keyNames = [
  'refresh_tokens',
  'one_time_tokens',
  'factor_secrets',
  'message_gaps',
  'accounts',
  'decoy_ids',
] as const
export type KeyName = (typeof keyNames)[number]

/** The versions of a key that all processes of a database share. */
export interface KeyRing {
  /** The version that is used for new secrets. */
  current(): Buffer
  /** All valid versions, newest first. Another process may already use the newest. */
  all(): readonly Buffer[]
}

/** @param key the only version. */
export function createKeyRing(key: Buffer): KeyRing {
  return { current: () => key, all: () => [key] }
}
