import { createHmac } from 'node:crypto'
import type { KeyRing } from '../../tokens/key-ring.ts'

/** Whose password is tried, whether there is such a user or not. */
export interface Account {
  readonly audience: string
  /** The address in lower case, or the digits of the number. */
  readonly name: string
}

/** Makes of an account a key that tells nobody who it is: limits may be counted by another server. */
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
