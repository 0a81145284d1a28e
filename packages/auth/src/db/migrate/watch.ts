import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { openClient } from '../connection/open-client.ts'
import type { Lease } from './lease.ts'

/** Monitors a migration from a separate connection while the main one is busy. */
export interface Watch extends AsyncDisposable {
  /**
   * Starts to monitor a step.
   * @param step the start of messages: `Migration 0001-init`.
   * @param pid the backend that runs the step, if the connection has a fixed backend.
   */
  enter(step: string, pid: number | undefined): void
  /** The processes that blocked the step at the last check: `process 4711 (psql, …)`. */
  takeBlockers(): string | undefined
}

interface WatchSettings {
  readonly url: string
  readonly schema: string
  readonly lease: Lease
  readonly renewEveryMs: number
  readonly reportEveryMs: number
  /** Called with blockers immediately, and with progress periodically. */
  readonly onProgress: (message: string) => void
}

const checkEveryMs = 500

/**
 * Finds the holders of locks that we wait for. PostgreSQL shows their details only to some roles.
 */
const findBlockers = `
  select a.pid, nullif(a.application_name, '') as name, a.state,
    extract(epoch from clock_timestamp() - coalesce(a.xact_start, a.query_start))::integer as seconds
  from unnest(pg_blocking_pids($1)) as b (pid) join pg_stat_activity a on a.pid = b.pid
  limit 3`

/**
 * Finds the build by schema, because behind a pooler the backend that builds the index is unknown.
 */
const findBuild = `
  select p.phase, i.relname as index, c.relname as table,
    case when p.blocks_total > 0 then (100 * p.blocks_done / p.blocks_total)::integer end as blocks,
    case when p.tuples_total > 0 then (100 * p.tuples_done / p.tuples_total)::integer end as tuples,
    nullif(p.current_locker_pid, 0) as locker
  from pg_stat_progress_create_index p
  join pg_class c on c.oid = p.relid
  join pg_namespace n on n.oid = c.relnamespace
  left join pg_class i on i.oid = p.index_relid
  where p.datname = current_database() and n.nspname = $1
  limit 1`

interface Build {
  readonly phase: string
  readonly index: string | null
  readonly table: string
  readonly blocks: number | null
  readonly tuples: number | null
  readonly locker: number | null
}

export async function openWatch(settings: WatchSettings): Promise<Watch> {
  const stop = new AbortController()
  let current: {
    readonly step: string
    readonly pid: number | undefined
    readonly startedAt: number
  }
  current = { step: '', pid: undefined, startedAt: performance.now() }
  let blockers: string | undefined
  let reportedAt = performance.now()
  let renewedAt = performance.now()

  const check = async (client: Client) => {
    if (performance.now() - renewedAt > settings.renewEveryMs) {
      await settings.lease.renew(client)
      renewedAt = performance.now()
    }
    const { step, pid, startedAt } = current
    if (step === '') return
    const found = pid === undefined ? undefined : await readBlockers(client, pid)
    const isNew = found !== undefined && blockers === undefined
    blockers = found ?? blockers
    const isDue = performance.now() - reportedAt > settings.reportEveryMs
    if (!isNew && !isDue) return
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    const what =
      found === undefined ? await readBuild(client, settings.schema) : `waits for ${found}`
    settings.onProgress(`${step} ${what ?? 'is being applied'}, ${seconds} s so far`)
    reportedAt = performance.now()
  }
  const run = async () => {
    const client = await openClient(settings.url, 'portcullis-auth migrate (watch)')
    client.on('error', () => stop.abort())
    try {
      while (!stop.signal.aborted) {
        await check(client)
        await sleep(checkEveryMs, undefined, { signal: stop.signal }).catch(() => undefined)
      }
    } finally {
      await client.end()
    }
  }
  // The migration itself renews the lease as well, so it does not depend on this connection.
  const ended = run().catch(() => undefined)
  return {
    enter(step, pid) {
      current = { step, pid, startedAt: performance.now() }
      blockers = undefined
      reportedAt = performance.now()
    },
    takeBlockers() {
      const taken = blockers
      blockers = undefined
      return taken
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
    },
  }
}

async function readBlockers(client: Client, pid: number): Promise<string | undefined> {
  const { rows } = await client.query<{
    pid: number
    name: string | null
    state: string | null
    seconds: number | null
  }>(findBlockers, [pid])
  if (rows.length === 0) return undefined
  return rows
    .map(({ pid, name, state, seconds }) => {
      const facts = [name, state, seconds === null ? null : `for ${seconds} s`]
      return `process ${pid} (${facts.filter((fact) => fact !== null).join(', ')})`
    })
    .join(' and ')
}

async function readBuild(client: Client, schema: string): Promise<string | undefined> {
  const { rows } = await client.query<Build>(findBuild, [schema])
  const [build] = rows
  if (build === undefined) return undefined
  const { index, table, phase, blocks, tuples, locker } = build
  const percent = tuples ?? blocks
  const done = percent === null ? '' : `, ${percent} %`
  const waits = locker === null ? '' : `, waits for process ${locker}`
  const what = index === null ? 'an index' : `the index ${index}`
  return `builds ${what} on ${table}: ${phase}${done}${waits}`
}
