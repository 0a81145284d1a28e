import {
  listNames,
  parseCount,
  parseOptions,
  parsePositive,
  parseSelection,
  UsageError,
} from '@portcullis/bench-kit/options'
import { parsePeer, peerOptions } from '@portcullis/bench-kit/peer'
import type { RoundPlan } from '@portcullis/bench-kit/rounds'
import type { Target } from '@portcullis/bench-kit/server-process'
import { groupNames } from './scenarios.ts'
import type { Peer, RunningPeer } from './servers/contestants.ts'

/** Measurements of this service without a peer. */
const soloNames = ['memory', 'pauses'] as const
export type SoloName = (typeof soloNames)[number]

const names = [...groupNames, ...soloNames]

export const help = `Usage: npm run bench -- ratelimit [OPTION…]

Compares the rate limit service with another server of the same protocol, in
turns. The unit is decisions per second of CPU time of the server, which other
load of the machine affects least.

Options:
  --peer-program FILE  envoyproxy/ratelimit, which is started for every
                       measurement
  --peer HOST:PORT     or: the gRPC address of a peer that runs on this machine;
                       needs --redis
  --peer-pid PID       its process, if it cannot be found by its port
  --redis HOST:PORT    a Redis for both servers; default: one that is started
  --write-rules DIR    only write the rules for a running peer, and print how to
                       start it

  --tracing RATE       fraction of calls that this service traces, to a
                       collector of the benchmark; default: 0
  --workers N          number of processes of this service with Redis;
                       default: 1
  --only NAMES         comma-separated list of what to measure:
                       ${listNames(names, 23)}
  --rounds N           number of slices for each server and shape of load;
                       default: 8
  --seconds N          length of a slice, three times as long for a steady load;
                       default: 1
  --starts N           number of times that all servers are restarted, at even
                       intervals; default: 2
  --warmup N           seconds of load for each server and shape after a start;
                       default: 2
  --quick              2 rounds of 0.5 s with one start, for a rough impression
  --strict             exit with code 1 if a goal is missed
  --help               show this text

A run of everything with a peer writes its results to
packages/ratelimit/bench/results.

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

export interface Settings {
  readonly isHelpWanted: boolean
  readonly writeRulesTo: string | undefined
  readonly peer: Peer
  readonly redis: string | undefined
  /** The number of processes, if the store can be shared. */
  readonly workers: number
  /** 0 disables tracing. */
  readonly tracingRate: number
  readonly groups: readonly string[]
  readonly solo: readonly SoloName[]
  readonly plan: RoundPlan
  /** Whether everything is measured thoroughly, so that the results are stored. */
  readonly isComplete: boolean
  readonly isStrict: boolean
}

const options = {
  ...peerOptions,
  redis: { type: 'string' },
  'write-rules': { type: 'string' },
  workers: { type: 'string' },
  tracing: { type: 'string' },
  only: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  starts: { type: 'string' },
  warmup: { type: 'string' },
  quick: { type: 'boolean', default: false },
  strict: { type: 'boolean', default: false },
} as const

/** @throws UsageError */
export function parseSettings(args: readonly string[]): Settings {
  const values = parseOptions(args, options)
  const peer = parsePeer(values, ['peer-pid'], (address) => parseRunningPeer(address, values))
  const workers = parseCount('workers', values.workers ?? '1')
  const tracingRate = values.tracing === undefined ? 0 : parsePositive('tracing', values.tracing)
  const only = parseSelection(values.only, names)
  const quick = values.quick ? { rounds: '2', seconds: '0.5', starts: '1', warmup: '1' } : {}
  const usual = { rounds: '8', seconds: '1', starts: '2', warmup: '2', ...quick }
  if (values.redis !== undefined) parseAddress('redis', values.redis)
  return {
    isHelpWanted: values.help,
    writeRulesTo: values['write-rules'],
    peer,
    redis: values.redis,
    workers,
    tracingRate,
    groups: groupNames.filter((name) => only.includes(name)),
    solo: soloNames.filter((name) => only.includes(name)),
    plan: {
      rounds: parseCount('rounds', values.rounds ?? usual.rounds),
      starts: parseCount('starts', values.starts ?? usual.starts),
      seconds: parsePositive('seconds', values.seconds ?? usual.seconds),
      warmupSeconds: parsePositive('warmup', values.warmup ?? usual.warmup),
    },
    isComplete:
      values.only === undefined &&
      !values.quick &&
      peer.kind !== 'none' &&
      workers === 1 &&
      tracingRate === 0,
    isStrict: values.strict,
  }
}

type Options = ReturnType<typeof parseOptions<typeof options>>

function parseRunningPeer(address: string, { 'peer-pid': pid, redis }: Options): RunningPeer {
  if (redis === undefined) {
    throw new UsageError(
      '--peer needs --redis HOST:PORT: both servers must count in the same Redis.',
    )
  }
  return {
    target: parseAddress('peer', address),
    pid: pid === undefined ? undefined : parseCount('peer-pid', pid),
  }
}

function parseAddress(name: string, text: string): Target {
  const match = /^(?<host>[^:/]+):(?<port>\d{1,5})$/.exec(text)
  const { host, port } = match?.groups ?? {}
  if (host === undefined || Number(port) > 65_535) {
    throw new UsageError(`--${name} must be HOST:PORT, not "${text}".`)
  }
  return { host, port: Number(port) }
}
