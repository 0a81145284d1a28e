import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { invalid } from '../../errors.ts'
import { toNetwork } from '../../limits/buckets.ts'
import { tooManyGuesses } from '../../limits/guesses.ts'
import type { Services } from '../../services.ts'
import { findKey, type ShownKey } from './use-key.ts'

interface KeyQuestion {
  /** The text of the key. */
  readonly text: string
  /** The address of the client that has sent the key to the service. */
  readonly clientIp: string | undefined
  /** The access token of the service. */
  readonly callerToken: string
}

/**
 * Finds a key for a service. Limits the requests of the service, and the invalid keys of a client. A client at its limit
 * is refused whatever key it sends, so that guessing is useless. Without the address of the client, invalid keys
 * of the service are limited, and valid ones are still found: one client must not lock out the others.
 * @throws {ApiError}
 */
export async function findKeyForService(
  services: Services,
  { text, clientIp, callerToken }: KeyQuestion,
): Promise<ShownKey | undefined> {
  const { requestLimits, guesses } = services
  if (clientIp !== undefined && isIP(clientIp) === 0) throw invalid('ip_address must be an address')
  // Service keys have no subject, and may differ only in their expiry.
  const caller = createHash('sha256').update(callerToken).digest('base64url')
  const waitSeconds = await requestLimits.take('api_key_verify', caller)
  if (waitSeconds !== undefined) throw tooManyGuesses(waitSeconds)
  let finding: Promise<ShownKey | undefined> | undefined
  const find = () => {
    finding ??= findKey(services, text)
    return finding
  }
  const limit = {
    limiter: 'api_key_guess',
    key: clientIp === undefined ? caller : `${caller} ${toNetwork(clientIp)}`,
    isExempt: async () => clientIp === undefined && (await find()) !== undefined,
  } as const
  const { key } = await guesses.guard([limit], async () => {
    const key = await find()
    return { isRight: key !== undefined, key }
  })
  return key
}
