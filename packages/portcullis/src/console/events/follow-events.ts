import { setTimeout as sleep } from 'node:timers/promises'
import { toMessage } from '@portcullis/service-kit/text/reason'
import type { EventPage } from './read-events.ts'

export interface FollowSettings {
  /** Reads at most `size` events after a position. */
  readonly read: (after: string) => Promise<EventPage>
  readonly size: number
  readonly after: string
  readonly signal: AbortSignal
  readonly intervalMs?: number
  /**
   * Receives new events, oldest first; also called without events, when only the position is new.
   * @returns false to receive the same events again later.
   */
  readonly onEvents: (page: EventPage) => boolean
  /** Called when reading fails, and reading is tried again. */
  readonly onFault: (message: string) => void
}

const defaultIntervalMs = 1_000
/** Limits the load on the auth server: reading takes at most a fifth of the time. */
const restFactor = 4

/** Reads new events until it is stopped. No event is lost while the auth server is unavailable. */
export async function followEvents(settings: FollowSettings): Promise<void> {
  const { read, size, signal, intervalMs = defaultIntervalMs, onEvents, onFault } = settings
  let { after } = settings
  while (!signal.aborted) {
    const startedAt = performance.now()
    let hasMore = false
    try {
      const page = await read(after)
      if (signal.aborted) return
      if (onEvents(page)) {
        after = page.latest
        hasMore = page.events.length >= size
      }
    } catch (error) {
      if (signal.aborted) return
      onFault(toMessage(error))
    }
    if (hasMore) continue
    const costMs = performance.now() - startedAt
    const pauseMs = Math.max(intervalMs - costMs, costMs * restFactor)
    // Rejects when stopped, which the loop condition also detects.
    await sleep(pauseMs, undefined, { signal }).catch(() => {})
  }
}
