import type { Log } from '@portcullis/service-kit/log'

/** How long the last spans and metrics may keep a server that stops. */
const flushTimeoutMs = 5_000

/** @param what `spans`; the log has it where the collector is too slow. */
export async function flushInTime(
  what: string,
  flush: Promise<void>,
  giveUp: AbortSignal,
  log: Log,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const expire = () => resolve(false)
  const finish = () => resolve(true)
  // Whoever sends them says it where that fails.
  flush.then(finish, finish)
  const timer = setTimeout(expire, flushTimeoutMs)
  if (giveUp.aborted) expire()
  giveUp.addEventListener('abort', expire, { once: true })
  const isDone = await promise
  clearTimeout(timer)
  giveUp.removeEventListener('abort', expire)
  if (!isDone) log.warning(`The last ${what} are lost: the collector did not take them in time`)
}

/** A collector that hangs must not keep us. */
export async function closeSoon(close: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, 500)
  close.then(resolve, () => resolve())
  await promise
  clearTimeout(timer)
}
