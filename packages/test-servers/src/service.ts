import { type ServerProcess, waitUntilReady } from './server-process.ts'

/** A server in which tests can cause failures. */
export interface Service {
  /** Ends it abruptly, like a crash: connections are cut and nothing is saved. */
  kill(): Promise<void>
  /** Ends it gracefully, as an operator would: its data is saved. */
  shutDown(): Promise<void>
  /** Suspends it: connections stay open, but it does not respond. */
  pause(): void
  resume(): void
  /** Starts it again on the same port, after `kill` or `shutDown`, or instead of `kill`. */
  restart(): Promise<void>
}

export interface ServiceOptions {
  readonly start: () => Promise<ServerProcess>
  /**
   * Whether the server responds and is the process with this id, not a foreign server on the port.
   */
  readonly isReady: (pid: number) => Promise<boolean>
  /** The signal for a graceful shutdown. */
  readonly shutDownSignal?: NodeJS.Signals
}

export async function startService({
  start,
  isReady,
  shutDownSignal = 'SIGTERM',
}: ServiceOptions): Promise<Service> {
  let running: ServerProcess
  const startReady = async () => {
    running = await start()
    const { pid } = running
    await waitUntilReady(running, () => isReady(pid))
  }
  await startReady()
  return {
    kill: () => running.stop(),
    shutDown: () => running.shutDown(shutDownSignal),
    pause: () => running.freeze(),
    resume: () => running.thaw(),
    async restart() {
      await running.stop()
      await startReady()
    },
  }
}
