import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '@portcullis/service-kit/log'
import { listProcesses } from '@portcullis/test-servers'
import { Client } from 'pg'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresSettings,
  openEmbeddedPostgres,
} from '../../src/db/embedded/open-embedded-postgres.ts'

const closers = new WeakMap<TestContext, (() => PromiseLike<unknown>)[]>()

/** After the test, what was opened last is closed first. */
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

/** A temporary folder that every user can enter, gone after the test. */
export async function makeFolder(t: TestContext, mode = 0o755): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-embedded-'))
  await chmod(folder, mode)
  closeAfter(t, () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return folder
}

export type OpenedPostgres = EmbeddedPostgres & { readonly log: readonly string[] }

/** Open until the end of the test, or until the test closes it. */
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

/** The rows of one statement, over a connection of its own. */
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
  /** Where PostgreSQL answers, or why it does not. */
  readonly opened: Promise<{ readonly url?: string; readonly error?: string }>
}

export interface HolderOptions {
  readonly what?: 'hold' | 'write'
  readonly uid?: number
  readonly gid?: number
}

/** A process that has the database of a folder open. */
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
    const said = JSON.parse(line)
    if (said.log) log.push(said.log)
    else if (said.acknowledged) acknowledged.push(said.acknowledged)
    else opened.resolve(said)
  })
  child.once('exit', () => opened.resolve({ error: 'the process ended' }))
  return { process: child, pid: child.pid ?? 0, log, acknowledged, opened: opened.promise }
}

/** For hangs only: no busy machine takes so long. */
const hangMs = 120_000

export async function waitUntil(what: string, isSo: () => boolean | Promise<boolean>) {
  const deadline = performance.now() + hangMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`It never happened: ${what}`)
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

/** All that a process started, directly or not, and that still runs. */
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
      // It ended on its own, because of those before it.
    }
  }
}
