import { tooManyGuesses } from '../../limits/guesses.ts'
import type { Services } from '../../services.ts'
import { findKey, type ShownKey } from './use-key.ts'

const limiter = 'api_key_guess'

/**
 * Finds a key for a client whose address is known. A client with too many invalid keys is refused whatever key it sends,
 * so that guessing is useless. @throws {ApiError}
 */
export async function findKeyOfClient(
  services: Services,
  text: string,
  limitKey: string,
): Promise<ShownKey | undefined> {
  const { key } = await services.guesses.guard([{ limiter, key: limitKey }], async () => {
    const found = await findKey(services, text)
    return { isRight: found !== undefined, key: found }
  })
  return key
}

/**
 * Finds a key if the count may be that of several clients. Too many invalid keys are refused, and valid ones are still
 * found: one client must not lock out the others. @throws {ApiError}
 */
export async function findKeyOfAnyClient(
  services: Services,
  text: string,
  limitKey: string,
): Promise<ShownKey | undefined> {
  const key = await findKey(services, text)
  if (key !== undefined) return key
  const waitSeconds = await services.requestLimits.take(limiter, limitKey)
  if (waitSeconds !== undefined) throw tooManyGuesses(waitSeconds)
  return undefined
}
