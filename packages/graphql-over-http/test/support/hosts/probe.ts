/** What a server under test reports about itself. */
export interface Findings {
  /** Calls of `console.error`, and unhandled rejections. */
  readonly errors: readonly string[]
  /** Calls of a handler that have not settled. */
  readonly pending: number
  /** Memory of the server's process, in bytes. */
  readonly memory: number
}

export interface Probe {
  /** Wraps a handler, to count the calls in flight. */
  track<Args extends unknown[], Result>(
    handler: (...args: Args) => Result,
  ): (...args: Args) => Result
  /** The findings since the last call. */
  take(): Findings
  close(): void
}

/** Observes the process of the server. Works on every runtime. */
export function openProbe(): Probe {
  let errors: string[] = []
  let pending = 0
  const original = console.error
  console.error = (...args: unknown[]) => {
    errors.push(args.map((arg) => (arg instanceof Error ? arg.message : String(arg))).join(' '))
  }
  const onRejection = (reason: unknown) => {
    errors.push(`unhandled rejection: ${String(reason)}`)
  }
  process.on('unhandledRejection', onRejection)

  return {
    track:
      (handler) =>
      (...args) => {
        pending++
        const result = handler(...args)
        const settled = () => {
          pending--
        }
        Promise.resolve(result).then(settled, settled)
        return result
      },
    take() {
      const findings = { errors, pending, memory: process.memoryUsage.rss() }
      errors = []
      return findings
    },
    close() {
      console.error = original
      process.off('unhandledRejection', onRejection)
    },
  }
}
