import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePortPair, host } from '../free-port.ts'
import { provideProgram } from '../programs/provide-program.ts'
import { fieldOf, redisCommand } from '../redis-command.ts'
import { type Address, type OpenServer, openServer } from '../server.ts'
import { waitFor } from '../wait-for.ts'
import { type RedisNode, startRedis } from './redis.ts'

export interface RedisCluster extends Address, OpenServer {
  /** Three masters, which together hold all slots. */
  readonly nodes: readonly RedisNode[]
}

const busDistance = 10_000
const slotRanges = ['0-5460', '5461-10922', '10923-16383']

/** A Redis Cluster of three masters that accepts reads and writes. */
export async function openRedisCluster(): Promise<RedisCluster> {
  const program = await provideProgram('redis-server')
  return openServer({
    name: 'redis-cluster',
    build: async ({ folder, ...sandbox }) => {
      const members = await planMembers()
      const nodes = await Promise.all(
        members.map(async (myself) => {
          const { port } = myself
          await writeFile(join(folder, `nodes-${port}.conf`), describeCluster(members, myself))
          const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000']
          const file = ['--cluster-config-file', `nodes-${port}.conf`]
          return startRedis({ folder, ...sandbox }, { program, port, args: [...settings, ...file] })
        }),
      )
      await Promise.all(nodes.map(({ port }) => waitUntilClusterIsUp(port)))
      const [first] = nodes
      if (!first) throw new Error('a cluster needs a node')
      return { host, port: first.port, url: first.url, nodes }
    },
  })
}

interface Member {
  readonly id: string
  readonly port: number
  readonly slots: string
}

async function planMembers(): Promise<Member[]> {
  const members: Member[] = []
  for (const slots of slotRanges) {
    let port = await findFreePortPair(busDistance)
    while (members.some((other) => other.port === port)) port = await findFreePortPair(busDistance)
    members.push({ id: createHash('sha1').update(`node at ${port}`).digest('hex'), port, slots })
  }
  return members
}

/**
 * The cluster configuration file of a node. Providing it at the start avoids CLUSTER MEET, ADDSLOTS
 * and the subsequent gossip, which take seconds.
 */
function describeCluster(members: readonly Member[], myself: Member): string {
  const lines = members.map(({ id, port, slots }, index) => {
    const role = id === myself.id ? 'myself,master' : 'master'
    return `${id} ${host}:${port}@${port + busDistance} ${role} - 0 0 ${index + 1} connected ${slots}`
  })
  return `${lines.join('\n')}\nvars currentEpoch ${members.length} lastVoteEpoch 0\n`
}

/** A master that has just started refuses writes for two seconds; then the state is ok. */
async function waitUntilClusterIsUp(port: number): Promise<void> {
  await waitFor('the cluster did not come up', async () => {
    const info = await redisCommand({ port }, 'CLUSTER', 'INFO')
    return fieldOf(info, 'cluster_state') === 'ok'
  })
}
