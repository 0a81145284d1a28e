import { createHmac } from 'node:crypto'
import type { KeyRing } from '../../tokens/key-ring.ts'

/** The account whose password is tried. It need not exist. */
export interface Account {
  readonly audience: string
  /** The address in lower case, or the digits of the phone number. */
  readonly name: string
}

/**
 * Derives a key that does not reveal the account, because limits may be counted by another server.
 */
export interface AccountKeys {
  toKey(account: Account): string
}

/** @param keys shared by all processes of a database. */
export function createAccountKeys(keys: KeyRing): AccountKeys {
  return {
    toKey: ({ audience, name }) =>
      createHmac('sha256', keys.current())
        .update(JSON.stringify([audience, name]))
        .digest('base64url'),
  }
}
