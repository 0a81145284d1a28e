import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { open } from '@portcullis/test-servers'
import {
  ourProgram,
  type Program,
  peerProgram,
  startServer,
} from '../../bench/servers/server-process.ts'
import { type RuleTree, toYaml } from './rule-trees.ts'
import { openServiceClient, type ServiceClient } from './service-client.ts'

/** The service to compare with: envoyproxy/ratelimit, which is not part of this repository. */
export type Peer =
  | { readonly kind: 'program'; readonly file: string }
  | { readonly kind: 'running'; readonly address: string; readonly rulesFolder: string }

export const peerAdvice =
  'no peer: set RATELIMIT_PEER_PROGRAM to the program envoyproxy/ratelimit, or RATELIMIT_PEER to ' +
  'HOST:PORT of one that runs with RUNTIME_WATCH_ROOT=false, and RATELIMIT_PEER_RULES to its rules'

export function findPeer(env: NodeJS.ProcessEnv): Peer | undefined {
  const { RATELIMIT_PEER_PROGRAM: file, RATELIMIT_PEER: address } = env
  const { RATELIMIT_PEER_RULES: rulesFolder } = env
  if (file) return { kind: 'program', file: resolve(file) }
  if (address && rulesFolder) return { kind: 'running', address, rulesFolder: resolve(rulesFolder) }
  return undefined
}

export interface Services {
  /** The peer first, then this service with each store. */
  readonly clients: readonly ServiceClient[]
  /** Resolves when every service has loaded these rules. */
  load(domain: string, rules: readonly RuleTree[]): Promise<void>
}

export interface ServicesOptions {
  readonly env: Readonly<Record<string, string>>
  /** All services share the keys of one Redis, as during a migration. */
  readonly isShared?: boolean
}

/** Opens the peer, and this service with Redis and in memory, all with the same folder of rules. */
export async function openServices(
  t: TestContext,
  peer: Peer,
  { env, isShared = false }: ServicesOptions,
): Promise<Services | undefined> {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const scratch = await mkdtemp(join(tmpdir(), 'portcullis-differential-'))
  t.after(() => rm(scratch, { recursive: true, force: true }))
  const folder =
    peer.kind === 'running' ? peer.rulesFolder : join(scratch, 'runtime', 'ratelimit', 'config')
  await mkdir(folder, { recursive: true })
  const ruleFile = createRuleFile(folder, scratch)
  t.after(() => rm(ruleFile.path, { force: true }))
  await ruleFile.write(toYaml('nothing', 'first', []))

  const start = async (name: string, program: Program, hasRedis: boolean) => {
    const server = await startServer({
      program,
      logFile: join(scratch, `${name}.log`),
      rules: {
        root: dirname(dirname(folder)),
        subdirectory: basename(dirname(folder)),
        appDirectory: basename(folder),
        file: ruleFile.path,
      },
      store: hasRedis ? { type: 'single', url: `${redis.host}:${redis.port}` } : undefined,
      localCacheBytes: 0,
      env: { ...env, ...(!isShared && { CACHE_KEY_PREFIX: `${name}:` }) },
      isReady: async ({ host, port }) => {
        using client = openServiceClient(name, `${host}:${port}`)
        return await isLoaded(client, 'nothing', 'first')
      },
    })
    t.after(() => server[Symbol.asyncDispose]())
    return `${server.target.host}:${server.target.port}`
  }
  const addresses = {
    peer:
      peer.kind === 'program' ? await start('peer', peerProgram(peer.file), true) : peer.address,
    'ours-redis': await start('ours-redis', ourProgram(), true),
    ...(!isShared && { 'ours-memory': await start('ours-memory', ourProgram(), false) }),
  }
  const clients = Object.entries(addresses).map(([name, address]) =>
    openServiceClient(name, address),
  )
  t.after(() => {
    for (const client of clients) client[Symbol.dispose]()
  })
  return {
    clients,
    async load(domain, rules) {
      await ruleFile.write(toYaml(domain, domain, rules))
      await Promise.all(clients.map((client) => untilLoaded(client, domain)))
    },
  }
}

/** The file is written elsewhere and moved, so that the services never see a part of it. */
function createRuleFile(folder: string, scratch: string) {
  const path = join(folder, 'differential.yaml')
  return {
    path,
    async write(text: string): Promise<void> {
      const draft = join(scratch, 'draft.yaml')
      await writeFile(draft, text)
      await rename(draft, path)
    },
  }
}

async function isLoaded(client: ServiceClient, domain: string, marker: string): Promise<boolean> {
  const descriptor = { entries: [{ key: 'loaded', value: marker }], hitsAddend: 0 }
  const { statuses } = await client.call({ domain, descriptors: [descriptor] })
  return JSON.stringify(statuses ?? []).includes('currentLimit')
}

const patienceMs = 120_000

async function untilLoaded(client: ServiceClient, domain: string): Promise<void> {
  const endsAtMs = performance.now() + patienceMs
  while (!(await isLoaded(client, domain, domain))) {
    if (performance.now() > endsAtMs) {
      throw new Error(`${client.name} did not load the rules of ${domain}`)
    }
    await wait(20)
  }
}
