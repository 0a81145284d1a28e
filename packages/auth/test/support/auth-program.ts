import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { programEnvironment } from '@portcullis/test-servers'
import { testEnvironment } from './auth-server.ts'
import { openSharedPostgres } from './shared-postgres.ts'
import { openTestSchema } from './test-schema.ts'

export const packageFolder = join(import.meta.dirname, '../..')
const main = join(packageFolder, 'src/main.ts')

type Env = Readonly<Record<string, string>>

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Env
  readonly stdin?: string
  readonly cwd?: string
}

/** Runs the program until it exits, with only these AUTH_ variables. */
export async function runAuth(
  args: readonly string[],
  { env = {}, stdin = '', cwd = '/' }: RunOptions = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    env: { ...programEnvironment, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {}).end(stdin)
  const closed = once(child, 'close')
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    closed,
  ])
  return { code, stdout, stderr }
}

export interface StartedAuth {
  readonly url: string
  /** The log output so far. */
  output(): string
  stop(signal: NodeJS.Signals): Promise<number | null>
  /** Sends a signal that does not stop the server. */
  signal(signal: NodeJS.Signals): void
}

/** Starts the server as a process and waits until it listens. */
export async function startAuth(
  t: TestContext,
  args: readonly string[],
  env: Env,
): Promise<StartedAuth> {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: '/',
    env: { ...programEnvironment, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  t.after(async () => {
    if (child.exitCode === null) child.kill('SIGTERM')
    await closed
  })
  let output = ''
  const url = await new Promise<string>((done, fail) => {
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      const [, found] = /Listening on (http:[^\s,]+)/.exec(output) ?? []
      if (found !== undefined) done(found)
    })
    child.on('close', () => fail(new Error(`The server ended: ${output}`)))
  })
  return {
    url,
    output: () => output,
    signal: (signal) => void child.kill(signal),
    async stop(signal) {
      child.kill(signal)
      const [code] = await closed
      return code
    },
  }
}

let schemas = 0

/** Environment for a program with its own schema. Returns undefined if PostgreSQL is missing. */
export async function openProgramEnvironment(t: TestContext): Promise<Env | undefined> {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return undefined
  return {
    ...testEnvironment,
    DATABASE_URL: postgres.url,
    AUTH_DB_NAMESPACE: `program_${process.pid}_${++schemas}`,
  }
}

/** The same with existing tables, which are reused, because creating them takes as long as starting the server. */
export async function openMigratedEnvironment(t: TestContext): Promise<Env | undefined> {
  const env = await openProgramEnvironment(t)
  if (!env) return undefined
  const { name, release } = await openTestSchema(env['DATABASE_URL'] ?? '')
  t.after(release)
  return { ...env, AUTH_DB_NAMESPACE: name }
}
