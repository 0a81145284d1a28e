import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from '../network/pool.ts'
import { Connection, type ConnectionSettings } from './connection.ts'

const pollMs = 5
const busyPending = 2_048

export interface NodeSettings extends Omit<ConnectionSettings, 'onOpen'> {
  readonly maxConnections: number
  /** Called with the name of a node that has reconnected. */
  readonly onReturn: (name: string) => void
}

/** One memcached server with a few connections. */
export class Node extends Pool<Connection> {
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly firstAttempt: Promise<void>
  readonly #endFirstAttempt: () => void

  constructor({ maxConnections, onDown, onReturn, ...settings }: NodeSettings) {
    const { promise, resolve } = Promise.withResolvers<void>()
    let isDown = false
    const connection: ConnectionSettings = {
      ...settings,
      onOpen() {
        resolve()
        if (isDown) onReturn(settings.name)
        isDown = false
      },
      onDown(reason) {
        resolve()
        isDown = true
        onDown(reason)
      },
    }
    super(() => new Connection(connection), { size: maxConnections, busyPending })
    this.firstAttempt = promise
    this.#endFirstAttempt = resolve
    this.start()
  }

  /** Waits for outstanding replies, for a limited time, and closes. */
  async finish(withinMs: number, reason: string): Promise<void> {
    const endsAtMs = performance.now() + withinMs
    while (performance.now() < endsAtMs && !this.isIdle) await sleep(pollMs)
    this.close(reason)
    this.#endFirstAttempt()
  }
}
