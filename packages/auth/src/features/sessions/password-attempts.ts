import { toNetwork } from '../../limits/buckets.ts'
import type { Guess, GuessLimit } from '../../limits/guesses.ts'
import type { Services } from '../../services.ts'
import { isStorableText } from '../../stored-json.ts'
import type { Account } from './account-keys.ts'
import type { Client } from './sessions.ts'
import { findSessionAddresses } from './statements/session-list.ts'

interface Attempt {
  readonly account: Account
  readonly client: Client
}

/**
 * Checks a password unless there were too many wrong ones for this account: from this IP address,
 * which a correct one resets, or from all IP addresses together. The latter limit would let anyone
 * lock the owner out, so networks from which the account has been used are exempt.
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
      isExempt: () => isKnownNetwork(services, account, client),
    },
  ]
  return services.guesses.guard(limits, check)
}

/**
 * This statement runs only while an account is under attack, and also for accounts that do not
 * exist.
 */
async function isKnownNetwork(
  { db }: Services,
  { audience, name }: Account,
  { ip }: Client,
): Promise<boolean> {
  if (ip === '' || !isStorableText(name)) return false
  const rows = await db.run(findSessionAddresses, { name, audience })
  return rows.some((row) => toNetwork(row.ip) === toNetwork(ip))
}
