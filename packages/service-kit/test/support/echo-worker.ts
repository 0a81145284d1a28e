import process from 'node:process'
import type { Message } from '../../src/workers/messages.ts'
import { PrimaryLink } from '../../src/workers/primary-link.ts'
import { serveUntilStopped } from '../../src/workers/worker.ts'
import { runWorkerProgram } from '../../src/workers/worker-program.ts'

/** Sent as the last message before the worker ends. */
export interface Served extends Message {
  readonly kind: 'served'
  readonly connections: number
  /** How many of the service's own messages the worker has received. */
  readonly messages: number
}

/** With a fault, the worker cannot start. */
export interface EchoStart {
  readonly fault?: string
}

class Link extends PrimaryLink<Message, Served> {
  messages = 0

  protected handleMessage(): void {
    this.messages += 1
  }
}

/** Echoes what it receives until it is stopped, then reports how many connections it has served. */
await runWorkerProgram<EchoStart>(async () => async ({ fault }) => {
  let [served, open] = [0, 0]
  let link: Link | undefined
  const exitCode = await serveUntilStopped({
    log: { level: 'panic', format: 'text' },
    drainTimeoutMs: 1_000,
    openLink: (_log, onStop) => new Link(process, onStop),
    async open(parts) {
      if (fault !== undefined) throw new Error(fault)
      link = parts.link
      const count = (by: 1 | -1) => {
        open += by
        parts.link.reportAddress('127.0.0.1', open)
        parts.link.reportConnections('echo', open)
      }
      parts.link.serve('echo', (socket) => {
        served += 1
        count(1)
        socket.on('error', () => {})
        socket.on('close', () => count(-1))
        socket.write(`${process.pid} `)
        socket.pipe(socket)
      })
    },
    toReason: String,
  })
  await link?.send({ kind: 'served', connections: served, messages: link.messages })
  return exitCode
})
