import { type ServerProcess, waitUntilReady } from './server-process.ts'

/** A server that tests may hurt. */
export interface Service {
  /** Ends it at once, as a crash does: nobody is waited for, nothing is saved. */
  kill(): Promise<void>
  /** Freezes it: connections stay open and nothing answers. */
  pause(): void
  resume(): void
  /** Starts it again on the same port, after `kill` or instead of it; its memory is lost. */
  restart(): Promise<void>
}

export interface ServiceOptions {
  readonly start: () => Promise<ServerProcess>
  /** The server answers, and it is the process with this id: somebody else's is not ours to use. */
  readonly isReady: (pid: number) => Promise<boolean>
}

export async function startService({ start, isReady }: ServiceOptions): Promise<Service> {
  let running: ServerProcess
  const startReady = async () => {
    running = await start()
    const { pid } = running
    await waitUntilReady(running, () => isReady(pid))
  }
  await startReady()
  return {
    kill: () => running.stop(),
    pause: () => running.signal('SIGSTOP'),
    resume: () => running.signal('SIGCONT'),
    async restart() {
      await running.stop()
      await startReady()
    },
  }
}
