import { once } from 'node:events'
import { connect } from 'node:net'
import { openRedis, openRedisCluster } from '@portcullis/test-servers'
import type { StoreName } from '../scenarios.ts'
import type { StoreAddress } from './environment.ts'
import { findListener } from './find-listener.ts'

export interface Stores extends AsyncDisposable {
  addressOf(store: StoreName): Promise<StoreAddress | undefined>
  /** The processes of a store, if they run on this machine. */
  pidsOf(store: StoreName): Promise<readonly number[]>
  /** Deletes all counters, if the benchmark started the store. */
  empty(store: StoreName): Promise<void>
}

interface OpenStore {
  readonly address: StoreAddress
  readonly pids: readonly number[]
  readonly ownPorts: readonly number[]
}

/** Opens each store on first use; all contenders share it. */
export function createStores(redisAddress: string | undefined): Stores {
  const stack = new AsyncDisposableStack()

  const openers: Record<Exclude<StoreName, 'memory'>, () => Promise<OpenStore>> = {
    redis: async () => {
      if (redisAddress !== undefined) {
        const pids = await findPids([Number(redisAddress.split(':').at(-1))])
        return { address: { type: 'single', url: redisAddress }, pids, ownPorts: [] }
      }
      const { host, port } = stack.use(await openRedis())
      const address = { type: 'single', url: `${host}:${port}` } as const
      return { address, pids: await findPids([port]), ownPorts: [port] }
    },
    cluster: async () => {
      const { nodes } = stack.use(await openRedisCluster())
      const url = nodes.map(({ host, port }) => `${host}:${port}`).join(',')
      const ownPorts = nodes.map(({ port }) => port)
      return { address: { type: 'cluster', url }, pids: await findPids(ownPorts), ownPorts }
    },
  }
  const open = new Map<StoreName, Promise<OpenStore>>()
  const provide = (store: StoreName): Promise<OpenStore> | undefined => {
    if (store === 'memory') return undefined
    const opened = open.get(store) ?? openers[store]()
    open.set(store, opened)
    return opened
  }
  return {
    addressOf: async (store) => (await provide(store))?.address,
    pidsOf: async (store) => (await provide(store))?.pids ?? [],
    async empty(store) {
      await Promise.all(((await provide(store))?.ownPorts ?? []).map(flush))
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function flush(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  socket.write('FLUSHALL SYNC\r\n')
  const [answer] = await once(socket, 'data')
  socket.destroy()
  if (answer !== '+OK\r\n') throw new Error(`Redis on port ${port} was not emptied: ${answer}`)
}

async function findPids(ports: readonly number[]): Promise<readonly number[]> {
  const pids = await Promise.all(ports.map(findListener))
  return pids.filter((pid) => pid !== undefined)
}
