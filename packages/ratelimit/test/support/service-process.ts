import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { programEnvironment, readResidentMegabytes } from '@portcullis/test-servers'
import { makeRules, type RuleDirectory, type RuleFiles } from './service-rules.ts'

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Default: an empty folder. */
  readonly rules?: RuleFiles
}

/** The service as users run it: a separate process, started by its command. */
export interface LaunchedService {
  readonly pid: number
  readonly rules: RuleDirectory
  /** The log so far. */
  readonly log: string
  /** The exit code, or the name of the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals>
  readonly hasEnded: boolean
  signal(name: NodeJS.Signals): void
}

export interface RunningService extends LaunchedService {
  /** `host:port`, or `unix:path`. */
  readonly grpcAddress: string
  readonly httpUrl: string
  readonly debugUrl: string
  /** Stops it and resolves to its exit code. */
  stop(): Promise<number | NodeJS.Signals>
}

/** Free ports, and no drain delay, because there are no load balancers. */
export const testEnvironment = {
  GRPC_HOST: '127.0.0.1',
  GRPC_PORT: '0',
  HOST: '127.0.0.1',
  PORT: '0',
  DEBUG_HOST: '127.0.0.1',
  DEBUG_PORT: '0',
  DRAIN_DELAY: '0s',
  DISABLE_STATS: 'true',
  // One process starts faster than several, whatever the number of cores.
  WORKERS: '1',
  // No test depends on the duration of the first calls.
  WARM_UP: 'false',
} as const

/** The environment of a test, with the common settings of all test services. */
export function toServiceEnvironment(env: Readonly<Record<string, string>>) {
  const isRedis = Object.keys(env).some((name) => /^(?:KVSTORE|REDIS)_/.test(name))
  return {
    ...testEnvironment,
    // Longer than a busy machine needs, so that no decision fails because of a short pause. It is set only
    // with Redis, because any variable of Redis makes the service use it.
    ...(isRedis && { KVSTORE_COMMAND_TIMEOUT: '120s' }),
    ...env,
  }
}

const program = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** Starts the service without waiting for it. It is killed after the test. */
export async function launchService(
  t: Pick<TestContext, 'after'>,
  { env = {}, rules = {} }: ServiceOptions = {},
): Promise<LaunchedService> {
  const directory = await makeRules(t, rules)
  const child = spawn(process.execPath, [program, 'serve', '--rules', directory.path], {
    env: { ...programEnvironment, ...toServiceEnvironment(env) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  t.after(async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await ended
  })
  await once(child, 'spawn')
  return {
    pid: child.pid ?? 0,
    rules: directory,
    ended,
    get log() {
      return log
    },
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null
    },
    signal: (name) => child.kill(name),
  }
}

/** Starts the service and waits until it listens. */
export async function startService(
  t: Pick<TestContext, 'after'>,
  options: ServiceOptions = {},
): Promise<RunningService> {
  const service = await launchService(t, options)
  return await untilListening(service)
}

/** Resolves when all listeners are open. */
export async function untilListening(service: LaunchedService): Promise<RunningService> {
  const addressOf = (listener: string) =>
    new RegExp(`Listening for ${listener} on '([^']+)'`).exec(service.log)?.[1]
  // The HTTP listener opens last.
  await until(
    () => addressOf('HTTP') !== undefined || service.hasEnded,
    () => `the service listens; its log:\n${service.log}`,
  )
  const grpc = addressOf('gRPC')
  if (grpc === undefined) throw new Error(`The service did not start:\n${service.log}`)
  return Object.assign(service, {
    grpcAddress: grpc.startsWith('/') ? `unix:${grpc}` : grpc,
    httpUrl: `http://${addressOf('HTTP')}`,
    debugUrl: `http://${addressOf('debug')}`,
    stop() {
      service.signal('SIGTERM')
      return service.ended
    },
  })
}

/** The memory usage of the process. */
export async function readMegabytes({ pid }: LaunchedService): Promise<number> {
  return readResidentMegabytes(pid)
}

/** Waits until the condition is true. The time limit is only for failing tests. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: () => string,
  patienceMs = 120_000,
): Promise<void> {
  const giveUpMs = performance.now() + patienceMs
  while (!(await holds())) {
    if (performance.now() > giveUpMs) throw new Error(`Timed out waiting until ${what()}`)
    // Many conditions read the statistics of all workers, which takes some milliseconds.
    await wait(25)
  }
}
