export interface StopSignals {
  /** Fires at the first signal. */
  readonly stopping: AbortSignal
  /** As if a signal had come. */
  stop(): void
  /** The terminal is gone: there is nobody to read what we say. */
  readonly isHungUp: boolean
}

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Ctrl-C, a supervisor, a terminal that is closed: the first stops us, the second at once. We listen to the
 * very end: a signal that nobody listens to would end us without what remains to be done.
 */
export function watchSignals(): StopSignals {
  const controller = new AbortController()
  let isHungUp = false
  const onSignal = (signal: NodeJS.Signals) => {
    // A closed terminal tells npm too, which passes it on: that is no impatience.
    if (signal === 'SIGHUP') isHungUp = true
    else if (controller.signal.aborted) process.exit(130)
    controller.abort(new Error(signal))
  }
  for (const name of names) process.on(name, onSignal)
  return {
    stopping: controller.signal,
    stop: () => controller.abort(),
    get isHungUp() {
      return isHungUp
    },
  }
}
