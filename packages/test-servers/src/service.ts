import { type ServerProcess, waitUntilReady } from './server-process.ts'

/** A server that tests may hurt. */
export interface Service {
  /** Ends it at once, as a crash does: nobody is waited for, nothing is saved. */
  kill(): Promise<void>
  /** Ends it in order, as an operator does: what it has is saved. */
  shutDown(): Promise<void>
  /** Freezes it: connections stay open and nothing answers. */
  pause(): void
  resume(): void
  /** Starts it again on the same port, after `kill` or `shutDown` or instead of `kill`. */
  restart(): Promise<void>
}

export interface ServiceOptions {
  readonly start: () => Promise<ServerProcess>
  /** The server answers, and it is the process with this id: somebody else's is not ours to use. */
  readonly isReady: (pid: number) => Promise<boolean>
  /** What the program ends by in order. */
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
