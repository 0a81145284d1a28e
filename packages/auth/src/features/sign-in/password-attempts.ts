import { createHmac } from 'node:crypto'
import { toNetwork } from '../../http/stages/network.ts'
import type { Guess, GuessLimit } from '../../limits/guesses.ts'
import type { Services } from '../../services.ts'
import type { KeyRing } from '../../tokens/key-ring.ts'
import type { Client } from '../sessions/sessions.ts'
import { isStorableText } from '../users/storable-json.ts'
import { type AddressRow, findSessionAddresses } from './statements.ts'

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

interface Attempt {
  readonly account: Account
  readonly client: Client
}

/**
 * Checks a password unless too many wrong ones came before: from this address for this account, which a
 * right one ends, or from all addresses together. The latter must not lock the owner out, whom anybody
 * could keep from signing in that way: addresses that the account was used from are exempt.
 * @throws {ApiError} the same for accounts that do not exist.
 */
export function guardPassword<Checked extends Guess>(
  services: Services,
  { account, client }: Attempt,
  check: () => Promise<Checked>,
): Promise<Checked> {
  const key = services.accountKeys.toKey(account)
  const limits: readonly GuessLimit[] = [
    {
      limiter: 'password',
      key: `${client.limitKey ?? client.ip}:${key}`,
      endsWithSuccess: true,
    },
    {
      limiter: 'password_account',
      key,
      isExempt: () => isKnown(services, account, client),
    },
  ]
  return services.guesses.guard(limits, check)
}

/** A statement that only runs while an account is attacked, also for accounts that do not exist. */
async function isKnown(
  { db }: Services,
  { audience, name }: Account,
  { ip }: Client,
): Promise<boolean> {
  if (ip === '' || !isStorableText(name)) return false
  const rows = await db.run<AddressRow>(findSessionAddresses, [name, audience])
  return rows.some((row) => toNetwork(row.ip) === toNetwork(ip))
}
