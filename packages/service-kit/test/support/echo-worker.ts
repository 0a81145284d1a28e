import process from 'node:process'
import { openLifecycle } from '../../src/lifecycle.ts'
import { createLog } from '../../src/log.ts'
import type { Message } from '../../src/workers/messages.ts'
import { PrimaryLink } from '../../src/workers/primary-link.ts'
import { deafProcess, runUntilStopped } from '../../src/workers/run-until-stopped.ts'
import { runWorkerProgram } from '../../src/workers/worker-program.ts'

class Link extends PrimaryLink<Message, Message> {
  protected hear(): void {}
}

/** Says what it hears, until it is stopped; or nothing, where it is told a reason not to start. */
await runWorkerProgram<{ readonly fault?: string }>(async () => async ({ fault }) => {
  const log = createLog({ level: 'panic', format: 'text', write: () => {} })
  const limits = { drainDelayMs: 0, drainTimeoutMs: 1_000 }
  const lifecycle = openLifecycle({ log, process: deafProcess, ...limits })
  const link = new Link(process, lifecycle.stop)
  return await runUntilStopped({
    link,
    lifecycle,
    async open() {
      if (fault !== undefined) throw new Error(fault)
      link.pass('echo', (socket) => {
        socket.on('error', () => {})
        socket.write(`${process.pid} `)
        socket.pipe(socket)
      })
    },
    toReason: String,
  })
})
