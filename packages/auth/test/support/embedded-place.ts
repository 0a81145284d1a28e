import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '@portcullis/service-kit/log/log'
import { listProcesses } from '@portcullis/test-servers'
import { Client } from 'pg'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresSettings,
  openEmbeddedPostgres,
} from '../../src/db/embedded/open-embedded-postgres.ts'

const closers = new WeakMap<TestContext, (() => PromiseLike<unknown>)[]>()

/** Closes resources after the test in reverse order. */
function closeAfter(t: TestContext, close: () => PromiseLike<unknown>): void {
  const known = closers.get(t)
  if (known) {
    known.push(close)
    return
  }
  const all = [close]
  closers.set(t, all)
  t.after(async () => {
    for (const one of all.reverse()) await one()
  })
}

/** Creates a temporary folder that every user can enter; it is removed after the test. */
export async function makeFolder(t: TestContext, mode = 0o755): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-embedded-'))
  await chmod(folder, mode)
  closeAfter(t, () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return folder
}

export type OpenedPostgres = EmbeddedPostgres & { readonly log: readonly string[] }

/** Opens a database that is closed at the end of the test, if not before. */
export async function openEmbedded(
  t: TestContext,
  settings: Omit<EmbeddedPostgresSettings, 'log'>,
): Promise<OpenedPostgres> {
  const lines: string[] = []
  const log = createLog({ level: 'debug', format: 'text', write: (line) => lines.push(line) })
  const postgres = await openEmbeddedPostgres({ ...settings, log })
  closeAfter(t, () => postgres[Symbol.asyncDispose]())
  return { ...postgres, log: lines }
}

/** Returns the rows of one statement, run on a separate connection. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(sql)
    return rows
  } finally {
    await client.end()
  }
}

interface Holder {
  readonly process: ChildProcessByStdio<null, Readable, null>
  readonly pid: number
  readonly log: readonly string[]
  readonly acknowledged: readonly number[]
  /** The URL of PostgreSQL, or the reason why it did not start. */
  readonly opened: Promise<{ readonly url?: string; readonly error?: string }>
}

export interface HolderOptions {
  readonly what?: 'hold' | 'write'
  readonly uid?: number
  readonly gid?: number
}

/** Starts a process that keeps the database in a folder open. */
export function startHolder(
  t: TestContext,
  settings: Omit<EmbeddedPostgresSettings, 'log'>,
  { what = 'hold', ...who }: HolderOptions = {},
): Holder {
  const script = join(import.meta.dirname, 'embedded-holder.ts')
  const child = spawn(process.execPath, [script, what, JSON.stringify(settings)], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...who,
  })
  closeAfter(t, async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const log: string[] = []
  const acknowledged: number[] = []
  const opened = Promise.withResolvers<{ url?: string; error?: string }>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line)
    if (message.log) log.push(message.log)
    else if (message.acknowledged) acknowledged.push(message.acknowledged)
    else opened.resolve(message)
  })
  child.once('exit', () => opened.resolve({ error: 'the process ended' }))
  return { process: child, pid: child.pid ?? 0, log, acknowledged, opened: opened.promise }
}

/** The limit detects hangs only; even a busy machine is faster. */
const hangMs = 120_000

export async function waitUntil(what: string, isSo: () => boolean | Promise<boolean>) {
  const deadline = performance.now() + hangMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Timed out waiting for: ${what}`)
    await sleep(10)
  }
}

export async function endOf({ process }: Holder): Promise<void> {
  if (process.exitCode === null && process.signalCode === null) await once(process, 'exit')
}

export interface Descendant {
  readonly pid: number
  readonly command: string
}

/** All running processes that a process has started, directly or indirectly. */
export function descendantsOf(pid: number): readonly Descendant[] {
  const all = listProcesses()
  const below = (parent: number): Descendant[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)])
  return below(pid)
}

export function kill(...pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has already exited because another one was killed.
    }
  }
}
