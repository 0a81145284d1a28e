import { setTimeout as sleep } from 'node:timers/promises'
import type { RangeName } from './ranges.ts'

/** Something that is looked at again and again, once for all who want to know. */
export interface Watch<State> {
  readonly intervalMs: number
  /** How often to look while no page is open. Without it, nothing is looked at then. */
  readonly idleIntervalMs?: number
  /** What is known so far, as far back as the range goes. */
  readonly state: (range: RangeName) => State
  /** Never rejects: what goes wrong is part of the state. */
  look(signal: AbortSignal): Promise<void>
}

/** No part is kept busy by our questions for more than a fifth of the time. */
const restFactor = 4

export interface WatchRun {
  stop(): void
}

/**
 * Looks until stopped, and reports each look. A look that is under way when it is stopped has ended
 * before the next run begins.
 */
export function createWatchRunner(
  watch: Watch<unknown>,
  onLooked: () => void,
): (intervalMs: number) => WatchRun {
  let last = Promise.resolve()
  return (intervalMs) => {
    const stopping = new AbortController()
    last = last.then(() => run(watch, intervalMs, onLooked, stopping.signal))
    return { stop: () => stopping.abort() }
  }
}

async function run(
  watch: Watch<unknown>,
  intervalMs: number,
  onLooked: () => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now()
    await watch.look(signal)
    if (signal.aborted) return
    onLooked()
    const costMs = performance.now() - startedAt
    const pauseMs = Math.max(intervalMs - costMs, costMs * restFactor)
    // Rejects when it is stopped, which the condition of the loop sees too.
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {})
  }
}
