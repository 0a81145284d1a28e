import { createHash } from 'node:crypto'
import { toNetwork } from '../../limits/buckets.ts'
import { tooManyGuesses } from '../../limits/guesses.ts'
import type { Services } from '../../services.ts'
import { findKeyOfAnyClient, findKeyOfClient } from './key-guesses.ts'
import type { ShownKey } from './use-key.ts'

interface KeyQuestion {
  /** The text of the key. */
  readonly text: string
  /** The address of the client that has sent the key to the service. */
  readonly clientIp: string | undefined
  /** The access token of the service. */
  readonly callerToken: string
}

/**
 * Finds a key for a service. Limits the requests of the service, and the invalid keys of a client, or without its address
 * those of the service. @throws {ApiError}
 */
export async function findKeyForService(
  services: Services,
  { text, clientIp, callerToken }: KeyQuestion,
): Promise<ShownKey | undefined> {
  const { requestLimits } = services
  // Service keys have no subject, and may differ only in their expiry.
  const caller = createHash('sha256').update(callerToken).digest('base64url')
  const waitSeconds = await requestLimits.take('api_key_verify', caller)
  if (waitSeconds !== undefined) throw tooManyGuesses(waitSeconds)
  return clientIp === undefined
    ? await findKeyOfAnyClient(services, text, caller)
    : await findKeyOfClient(services, text, `${caller} ${toNetwork(clientIp)}`)
}
