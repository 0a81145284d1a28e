import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Calls the probe until it resolves to true. An error counts as false. The time limit is only for
 * hangs.
 */
export async function waitFor(
  message: string,
  probe: () => Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  let lastError: unknown
  for (;;) {
    const isTrue = await probe().catch((error: unknown) => {
      lastError = error
      return false
    })
    if (isTrue) return
    if (performance.now() > deadline) {
      throw new Error(`${message} within ${timeoutMs / 1000} s`, { cause: lastError })
    }
    await sleep(10)
  }
}
