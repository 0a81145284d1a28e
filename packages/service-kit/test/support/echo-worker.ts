import process from 'node:process'
import { openLifecycle } from '../../src/lifecycle.ts'
import { createLog } from '../../src/log.ts'
import type { Message } from '../../src/workers/messages.ts'
import { PrimaryLink } from '../../src/workers/primary-link.ts'
import { deafProcess, runUntilStopped } from '../../src/workers/run-until-stopped.ts'
import { runWorkerProgram } from '../../src/workers/worker-program.ts'

/** Sent as the last message before the worker ends. */
export interface Served extends Message {
  readonly kind: 'served'
  readonly connections: number
  /** The messages of the primary that only this kind of worker knows. */
  readonly heard: number
}

class Link extends PrimaryLink<Message, Served> {
  heard = 0

  protected hear(): void {
    this.heard += 1
  }
}

/**
 * Sends back what it receives until it is stopped, then reports how many connections it has served.
 * A fault in its start message keeps it from starting.
 */
await runWorkerProgram<{ readonly fault?: string }>(async () => async ({ fault }) => {
  const log = createLog({ level: 'panic', format: 'text', write: () => {} })
  const limits = { drainDelayMs: 0, drainTimeoutMs: 1_000 }
  const lifecycle = openLifecycle({ log, process: deafProcess, ...limits })
  const link = new Link(process, lifecycle.stop)
  let connections = 0
  const exitCode = await runUntilStopped({
    link,
    lifecycle,
    async open() {
      if (fault !== undefined) throw new Error(fault)
      link.pass('echo', (socket) => {
        connections += 1
        socket.on('error', () => {})
        socket.write(`${process.pid} `)
        socket.pipe(socket)
      })
    },
    toReason: String,
  })
  await link.send({ kind: 'served', connections, heard: link.heard })
  return exitCode
})
