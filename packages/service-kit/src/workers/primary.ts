import { createServer, type Server } from 'node:net'
import process from 'node:process'
import type { Lifecycle } from '../process/lifecycle.ts'
import { AddressLimit } from './address-limit.ts'
import type { Message } from './messages.ts'
import { Pool, type PoolSettings } from './pool.ts'
import type { WorkerProcess } from './worker-process.ts'

export interface WorkersSettings<To extends Message, From extends Message>
  extends Omit<PoolSettings<To, From>, 'onPermanentFailure'> {
  readonly lifecycle: Lifecycle
}

/** The workers of a primary, which owns the ports and the signals and serves nothing itself. */
export interface Workers<To extends Message, From extends Message> {
  /** The running workers by their number. */
  readonly running: readonly WorkerProcess<To, From>[]
  /**
   * Resolves when all workers are ready; rejects with the reason of the first that cannot start.
   */
  ready(): Promise<void>
  /** Opens a port and distributes its connections to the workers. */
  listen<Bound>(settings: ListenSettings<Bound>): Promise<Bound>
}

export interface ListenSettings<Bound> {
  /** The name by which workers know the listener. */
  readonly listener: string
  /** Resolves when the server accepts connections. */
  readonly bind: (server: Server) => Promise<Bound>
  /** How many connections one address may have over all workers. Default: no limit. */
  readonly connectionsPerAddress?: number
  /** Called with errors that prevent connections from being accepted later. */
  readonly onError: (error: Error) => void
}

/**
 * Starts workers, and stops them when the lifecycle ends.
 *
 * `node:cluster` is not used: there a client whose connection is being transferred to a worker that is
 * killed waits forever, the port closes with the last worker, and every worker reports that it is in use.
 */
export function startWorkers<To extends Message, From extends Message>({
  lifecycle,
  ...settings
}: WorkersSettings<To, From>): Workers<To, From> {
  const pool = new Pool({ ...settings, onPermanentFailure: lifecycle.fail })
  // Workers of a killed primary notice that it has ended; in all other cases they are killed here.
  process.once('exit', () => pool.kill())
  lifecycle.own('workers', pool)
  const servers: Server[] = []
  lifecycle.drain('listeners', () => {
    for (const server of servers) server.close()
  })
  lifecycle.drain('workers', async (expired) => {
    expired.addEventListener('abort', () => pool.kill(), { once: true })
    await pool.stop('SIGINT')
  })
  return {
    get running() {
      return pool.workers
    },
    async ready() {
      await pool.ready
      lifecycle.stopping.throwIfAborted()
    },
    async listen({ listener, bind, connectionsPerAddress = 0, onError }) {
      const addresses = new AddressLimit(connectionsPerAddress, () => pool.workers)
      // Nothing is read from a connection, so that the worker receives every byte.
      const server = createServer({ pauseOnConnect: true }, (socket) => {
        if (addresses.takes(socket)) pool.serve(listener, socket)
        else socket.destroy()
      })
      servers.push(server)
      const bound = await bind(server)
      server.on('error', onError)
      return bound
    },
  }
}
