/** What each is for: docs/auth-operations.md, "Keys". */
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
  /** The one that new secrets are made with. */
  current(): Buffer
  /** Those whose secrets are still valid, the newest first. It may be in use elsewhere already. */
  all(): readonly Buffer[]
}

/** @param key the only one. */
export function createKeyRing(key: Buffer): KeyRing {
  return { current: () => key, all: () => [key] }
}
