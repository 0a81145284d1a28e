import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort, host } from '../free-port.ts'
import { provideProgram } from '../programs/provide-program.ts'
import { fieldOf, redisCommand } from '../redis-command.ts'
import { type OpenServer, openServer } from '../server.ts'
import { waitFor } from '../wait-for.ts'
import { type RedisNode, startRedis } from './redis.ts'

export interface RedisSentinel extends OpenServer {
  /** The name by which the sentinels know the master. */
  readonly masterName: string
  /** The initial master; after a failover, ask the sentinels for the current one. */
  readonly master: RedisNode
  readonly replica: RedisNode
  readonly sentinels: readonly RedisNode[]
}

const masterName = 'mymaster'
const sentinelCount = 3
const quorum = 2

/** A master with a replica, monitored by three sentinels that fail over within a few seconds. */
export async function openRedisSentinel(): Promise<RedisSentinel> {
  const program = await provideProgram('redis-server')
  return openServer({
    name: 'redis-sentinel',
    build: async (sandbox) => {
      // Either may become the master, and a master that waits for more replicas would delay the
      // test.
      const promptSync = ['--repl-diskless-sync-delay', '0']
      const port = await findFreePort()
      const master = await startRedis(sandbox, { program, port, args: promptSync })
      const replica = await startRedis(sandbox, {
        program,
        port: await findFreePort(),
        args: [...promptSync, '--replicaof', `${host} ${port}`],
      })
      // Sentinels check a replica every ten seconds, so it should be in sync at the first check.
      await waitFor('the replica did not find its master', async () => {
        const info = await redisCommand(replica, 'INFO', 'replication')
        return fieldOf(info, 'master_link_status') === 'up'
      })
      const ports = await Promise.all(Array.from({ length: sentinelCount }, findFreePort))
      const sentinels = await Promise.all(
        ports.map(async (port) => {
          const configFile = join(sandbox.folder, `sentinel-${port}.conf`)
          await writeFile(configFile, describeWatch(port, ports, master, replica))
          return startRedis(sandbox, { program, port, configFile, args: ['--sentinel'] })
        }),
      )
      await Promise.all(ports.map(waitUntilFailoverIsPossible))
      return { masterName, master, replica, sentinels }
    },
  })
}

const idOf = (port: number) => createHash('sha1').update(`sentinel at ${port}`).digest('hex')

/** Configuring the other sentinels and the replica avoids seconds of discovery. */
function describeWatch(
  port: number,
  all: readonly number[],
  master: RedisNode,
  replica: RedisNode,
): string {
  const others = all.filter((other) => other !== port)
  return [
    `sentinel myid ${idOf(port)}`,
    `sentinel monitor ${masterName} ${host} ${master.port} ${quorum}`,
    `sentinel down-after-milliseconds ${masterName} 1000`,
    `sentinel failover-timeout ${masterName} 5000`,
    `sentinel known-replica ${masterName} ${host} ${replica.port}`,
    ...others.map(
      (other) => `sentinel known-sentinel ${masterName} ${host} ${other} ${idOf(other)}`,
    ),
    '',
  ].join('\n')
}

/** Enough sentinels agree, and they see the replica in sync with its master. */
async function waitUntilFailoverIsPossible(port: number): Promise<void> {
  await waitFor('the sentinels did not find each other and the replica', async () => {
    const quorumReply = await redisCommand({ port }, 'SENTINEL', 'CKQUORUM', masterName)
    const replicas = await redisCommand({ port }, 'SENTINEL', 'REPLICAS', masterName)
    const hasQuorum = `${quorumReply}`.startsWith(`OK ${sentinelCount} `)
    return hasQuorum && `${replicas}`.includes('master-link-status,ok')
  })
}
