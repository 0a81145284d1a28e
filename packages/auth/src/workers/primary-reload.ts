import type { Config } from '../config/config.ts'
import type { PreparedMessage, ReloadMessage } from './reload-messages.ts'

/** The part of a worker process that a reload uses. */
export interface ReloadedWorker {
  readonly number: number
  readonly isReady: boolean
  send(message: ReloadMessage): void
}

export interface PrimaryReload {
  /** The configuration for workers that start now. */
  readonly config: Config
  /** Changes all workers to another configuration, or none. @throws {Error} if one cannot use it. */
  reload(config: Config): Promise<void>
  /** Handles the response of a worker. */
  take(worker: ReloadedWorker, message: PreparedMessage): void
  /** Stops waiting for the response of a worker that has ended. */
  forget(worker: ReloadedWorker): void
}

export interface PrimaryReloadSettings {
  readonly config: Config
  readonly list: () => readonly ReloadedWorker[]
  readonly timeoutMs?: number
}

interface Round {
  readonly id: number
  /** The workers that have not responded yet. */
  readonly waiting: Set<ReloadedWorker>
  readonly failures: string[]
  readonly onResponse: () => void
}

/** The primary's side of a reload. Only one reload runs at a time. */
export function createPrimaryReload(settings: PrimaryReloadSettings): PrimaryReload {
  const { list, timeoutMs = 30_000 } = settings
  let { config } = settings
  let lastId = 0
  let round: Round | undefined

  const respond = (worker: ReloadedWorker, failure: string | undefined): void => {
    if (round === undefined || !round.waiting.delete(worker)) return
    if (failure !== undefined) round.failures.push(failure)
    round.onResponse()
  }
  const sendAll = (message: ReloadMessage): void => {
    for (const worker of list()) worker.send(message)
  }
  const prepare = async (id: number, next: Config): Promise<readonly string[]> => {
    const waiting = new Set(list().filter(({ isReady }) => isReady))
    const { promise, resolve } = Promise.withResolvers<void>()
    const onResponse = () => {
      if (waiting.size === 0) resolve()
    }
    const failures: string[] = []
    round = { id, waiting, failures, onResponse }
    for (const worker of waiting) worker.send({ kind: 'prepare', id, config: next })
    onResponse()
    const timer = setTimeout(resolve, timeoutMs)
    await promise
    clearTimeout(timer)
    round = undefined
    const silent = [...waiting].map(({ number }) => `worker ${number} did not respond in time`)
    return [...new Set([...failures, ...silent])]
  }
  return {
    get config() {
      return config
    },
    async reload(next) {
      lastId += 1
      const id = lastId
      const failures = await prepare(id, next)
      if (failures.length > 0) {
        sendAll({ kind: 'discard', id })
        throw new Error(failures.join('; '))
      }
      config = next
      sendAll({ kind: 'commit', id, config: next })
    },
    take(worker, { id, failure }) {
      if (round?.id === id) respond(worker, failure)
    },
    forget: (worker) => respond(worker, undefined),
  }
}
