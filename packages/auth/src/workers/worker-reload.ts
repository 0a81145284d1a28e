import { toMessage } from '@portcullis/service-kit/text/reason'
import type { PrepareChange, PreparedChange } from '../reloading/reload-plan.ts'
import type { PreparedMessage, ReloadMessage } from './reload-messages.ts'

export interface WorkerReload {
  take(message: ReloadMessage): void
  /** Starts handling messages; those that arrived earlier were kept. */
  attach(prepare: PrepareChange): void
}

export interface WorkerReloadSettings {
  readonly send: (message: PreparedMessage) => unknown
  /** Called if this worker cannot change to a configuration that the other workers use already. */
  readonly onFailure: (error: Error) => void
}

/** The worker's side of a reload. */
export function createWorkerReload({ send, onFailure }: WorkerReloadSettings): WorkerReload {
  const attached = Promise.withResolvers<PrepareChange>()
  let prepared: { readonly id: number; readonly change: PreparedChange } | undefined
  let work: Promise<unknown> = attached.promise

  const discard = async (): Promise<void> => {
    const { change } = prepared ?? {}
    prepared = undefined
    await change?.discard()
  }
  const prepareChange = async (message: ReloadMessage & { kind: 'prepare' }): Promise<void> => {
    const { id, config } = message
    await discard()
    const prepare = await attached.promise
    try {
      prepared = { id, change: await prepare(config) }
      send({ kind: 'prepared', id })
    } catch (error) {
      send({ kind: 'prepared', id, failure: toMessage(error) })
    }
  }
  const commit = async ({ id, config }: ReloadMessage & { kind: 'commit' }): Promise<void> => {
    if (prepared?.id === id) {
      prepared.change.commit()
      prepared = undefined
      return
    }
    await discard()
    const prepare = await attached.promise
    try {
      const change = await prepare(config)
      change.commit()
    } catch (error) {
      onFailure(new Error(`The reloaded configuration cannot be used: ${toMessage(error)}`))
    }
  }
  const handle = async (message: ReloadMessage): Promise<void> => {
    if (message.kind === 'prepare') await prepareChange(message)
    else if (message.kind === 'commit') await commit(message)
    else if (prepared?.id === message.id) await discard()
  }
  return {
    take(message) {
      work = work
        .then(() => handle(message))
        .catch((error: unknown) => onFailure(new Error(toMessage(error))))
    },
    attach: (prepare) => attached.resolve(prepare),
  }
}
