/** Work that is asked for at any time and never done twice at once. */
export interface OneAtATime {
  /** Starts it, or has it done once more after the present run, however often it is asked for. */
  request(): void
  /** No further run; resolves when the present one is over. */
  close(): Promise<void>
}

/** @param run must not reject. */
export function createOneAtATime(run: () => Promise<void>): OneAtATime {
  let isWanted = false
  let isClosed = false
  let running: Promise<void> | undefined

  async function runWhileWanted(): Promise<void> {
    while (isWanted && !isClosed) {
      isWanted = false
      await run()
    }
    running = undefined
  }

  return {
    request() {
      isWanted = true
      running ??= runWhileWanted()
    },
    async close() {
      isClosed = true
      await running
    },
  }
}
