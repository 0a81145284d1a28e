import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import type { ListenersConfig } from '../config/listeners.ts'
import {
  createDebugService,
  type DebugContents,
  openDebugListener,
} from '../transports/debug/debug.ts'
import type { Primary } from './primary.ts'

export interface DebugSurroundings {
  readonly contents: DebugContents
  readonly lifecycle: Lifecycle
  readonly primary: Primary | undefined
}

/** @returns the address it listens on; undefined where its port was taken, and in a worker. */
export async function openDebug(
  config: ListenersConfig['debug'],
  { contents, lifecycle, primary }: DebugSurroundings,
): Promise<string | undefined> {
  if (primary !== undefined) {
    const service = lifecycle.own('debug pages', createDebugService(contents))
    primary.receive('debug', (socket) => service.adopt(socket))
    return undefined
  }
  const listener = await openDebugListener({ ...config, ...contents })
  if (listener !== undefined) lifecycle.own('debug listener', listener)
  return listener?.address
}
