import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PeerOf } from '@portcullis/bench-kit/peer'
import type { Target } from '@portcullis/bench-kit/server-process'
import { createRequest, valuesKinds } from '../requests.ts'
import { writeRules } from '../rule-files.ts'
import { type Contender, defaultRuleCount, type Group } from '../scenarios.ts'
import { findListener } from './find-listener.ts'
import { readLimit } from './probe.ts'
import { ourProgram, peerProgram, startServer } from './server-process.ts'
import type { Stores } from './stores.ts'

/** A contender with a running server. */
export interface Contestant extends AsyncDisposable {
  readonly contender: Contender
  readonly target: Target
  readonly pid: number
  readonly storePids: readonly number[]
  /** Deletes all counters of the store, if the benchmark started the store. */
  emptyStore(): Promise<void>
}

export interface RunningPeer {
  readonly target: Target
  readonly pid: number | undefined
}

export type Peer = PeerOf<RunningPeer>

export type OpenContestants = (group: Group) => Promise<readonly Contestant[]>

const localCacheBytes = 16 << 20

/** A peer that is already running takes part only if its settings can be the required ones. */
export function withContendersFor(peer: Peer, group: Group): Group {
  const canTakePart = ({ program, store, hasLocalCache, rules }: Contender) => {
    if (program === 'ours' || peer.kind === 'program') return true
    return (
      peer.kind === 'running' && store === 'redis' && !hasLocalCache && rules === defaultRuleCount
    )
  }
  return { ...group, contenders: group.contenders.filter(canTakePart) }
}

/** The settings of the measured service. */
export interface PortcullisSettings {
  /** The number of processes, if the store can be shared. */
  readonly workers: number
  /** Additional environment variables. */
  readonly env: Readonly<Record<string, string>>
}

export function createContestants(
  peer: Peer,
  stores: Stores,
  ours: PortcullisSettings,
): OpenContestants {
  return async (group: Group) => {
    const opened: Contestant[] = []
    try {
      for (const contender of group.contenders) {
        opened.push(await open(contender, peer, stores, ours))
      }
      return opened
    } catch (error) {
      for (const one of opened) await one[Symbol.asyncDispose]()
      throw error
    }
  }
}

async function open(
  contender: Contender,
  peer: Peer,
  stores: Stores,
  { workers, env }: PortcullisSettings,
): Promise<Contestant> {
  const storePids = await stores.pidsOf(contender.store)
  const emptyStore = () => stores.empty(contender.store)
  if (contender.program === 'peer' && peer.kind === 'running') {
    return { contender, storePids, emptyStore, ...(await findRunningPeer(peer)) }
  }
  const program =
    contender.program === 'peer' && peer.kind === 'program' ? peerProgram(peer.file) : ourProgram()
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  try {
    const server = await startServer({
      program,
      logFile: join(folder, 'server.log'),
      rules: await writeRules(folder, contender.rules),
      store: await stores.addressOf(contender.store),
      localCacheBytes: contender.hasLocalCache ? localCacheBytes : 0,
      env: {
        WORKERS: `${contender.store === 'memory' ? 1 : workers}`,
        ...(contender.program === 'ours' ? env : {}),
      },
      isReady: (target) => answersByRule(target, contender.rules),
    })
    const dispose = async () => {
      await server[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    }
    const { pid, target } = server
    return { contender, pid, target, storePids, emptyStore, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function findRunningPeer({ target, pid }: RunningPeer) {
  const name = `${target.host}:${target.port}`
  const knowsRules = await answersByRule(target, defaultRuleCount).catch((error: Error) => {
    throw new Error(`The peer at ${name} does not answer: ${error.message}`)
  })
  if (!knowsRules) {
    throw new Error(
      `The peer at ${name} does not know the rules. Write them with --write-rules DIR, ` +
        `and start it with that folder.`,
    )
  }
  const found = pid ?? (await findListener(target.port))
  if (found === undefined) {
    throw new Error(`No process on this machine listens on port ${target.port}; set --peer-pid`)
  }
  return { target, pid: found, [Symbol.asyncDispose]: async () => {} }
}

/** Returns whether all rules are loaded: then the last tenant has a limit. */
export async function answersByRule(target: Target, rules: number): Promise<boolean> {
  const plan = { values: 'many', descriptors: 1, rules } as const
  const message = createRequest(plan, valuesKinds.many.count - 1)
  return (await readLimit(target, message.bytes)) !== undefined
}
