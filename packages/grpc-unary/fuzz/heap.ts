import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage: unknown = runInNewContext('gc')

/**
 * The memory of buffers is released some time after their objects, so one measurement is not
 * enough.
 */
const MEASUREMENTS = 3

/** The memory of live objects and buffers, measured after garbage collection. */
export async function measureHeapBytes(): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let count = 0; count < MEASUREMENTS; count++) {
    if (typeof collectGarbage === 'function') collectGarbage()
    await nextTurn()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    least = Math.min(least, heapUsed + arrayBuffers)
  }
  return least
}
