import { setTimeout as sleep } from 'node:timers/promises'

/** Something that is looked at again and again, once for all who want to know. */
export interface Watch<State> {
  readonly intervalMs: number
  /** What is known so far. */
  readonly state: () => State
  /** Never rejects: what goes wrong is part of the state. */
  look(signal: AbortSignal): Promise<void>
}

/** No part is kept busy by our questions for more than a fifth of the time. */
const restFactor = 4

export interface WatchRun {
  stop(): void
}

/**
 * Looks until stopped, and tells after each look. A look that is under way when it is stopped has ended
 * before the next run begins.
 */
export function createWatchRunner<State>(
  watch: Watch<State>,
  tell: (state: State) => void,
): () => WatchRun {
  let last = Promise.resolve()
  return () => {
    const stopping = new AbortController()
    last = last.then(() => run(watch, tell, stopping.signal))
    return { stop: () => stopping.abort() }
  }
}

async function run<State>(
  watch: Watch<State>,
  tell: (state: State) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now()
    await watch.look(signal)
    if (signal.aborted) return
    tell(watch.state())
    const costMs = performance.now() - startedAt
    const pauseMs = Math.max(watch.intervalMs - costMs, costMs * restFactor)
    // Rejects when it is stopped, which the condition of the loop sees too.
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {})
  }
}
