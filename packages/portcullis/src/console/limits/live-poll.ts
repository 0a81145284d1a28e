export interface PollListener<Update> {
  onUpdate(update: Update): void
  onError(error: unknown): void
}

export interface LivePoll<Update> {
  /** @returns a function that stops listening. */
  listen(listener: PollListener<Update>): () => void
}

interface PollParts<Update> {
  readonly read: () => Promise<Update>
  /** Called after a failure and for the first listener, because earlier results are outdated then. */
  readonly forget?: () => void
}

const pauseMs = 1_000
/** Reading the statistics of very many rules is expensive, so the pause grows with the duration. */
const restFactor = 4

/** Polls once a second while there are listeners, and shares each result between them. */
export function createLivePoll<Update>(parts: PollParts<Update>): LivePoll<Update> {
  const listeners = new Set<PollListener<Update>>()
  let timer: NodeJS.Timeout | undefined
  let update: Update | undefined
  let isPolling = false

  function forget(): void {
    update = undefined
    parts.forget?.()
  }

  async function poll(): Promise<void> {
    if (isPolling) return
    isPolling = true
    const startMs = performance.now()
    try {
      const latest = await parts.read()
      update = latest
      for (const listener of listeners) listener.onUpdate(latest)
    } catch (error) {
      forget()
      for (const listener of listeners) listener.onError(error)
    } finally {
      isPolling = false
      const tookMs = performance.now() - startMs
      if (listeners.size > 0)
        timer = setTimeout(() => void poll(), Math.max(pauseMs, restFactor * tookMs))
    }
  }

  return {
    listen(listener) {
      listeners.add(listener)
      if (listeners.size === 1) {
        forget()
        clearTimeout(timer)
        void poll()
      } else if (update !== undefined) {
        listener.onUpdate(update)
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) clearTimeout(timer)
      }
    },
  }
}
