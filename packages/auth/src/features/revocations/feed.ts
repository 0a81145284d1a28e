import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { Queries } from '../../db/database.ts'
import { findRevocation, listRevocations, type RevocationRow } from './statements.ts'

/** Notifies this process of new rows. */
export interface Notifications extends AsyncDisposable {
  /** False while there is no connection that PostgreSQL can notify. */
  readonly isListening: boolean
}

export interface FeedSettings {
  readonly db: Queries
  readonly log: Pick<Log, 'warning'>
  readonly now: () => number
  /** Opened while there is a reader, because it takes a connection. */
  readonly listen: (onNotified: () => void) => Notifications
}

export interface FeedState {
  readonly readers: number
  readonly isListening: boolean
}

/** The position of a reader: the ID of the last row that it has received, and when that was written. */
export interface Position {
  readonly id: number
  readonly revokedMs: number
}

/** Reads new rows for all readers of this process. */
export interface RevocationFeed extends AsyncDisposable {
  readonly state: FeedState
  /**
   * Reads rows until the signal is aborted or all readers are ended. An empty page means that the reader has all rows
   * and that the database was read a moment ago.
   * @param from undefined: from the oldest row that is kept.
   */
  read(options: ReadOptions): AsyncGenerator<readonly RevocationRow[], void, undefined>
  /** Ends all readers. Clients connect again, to another process or after a reload. */
  endReaders(): void
}

interface ReadOptions {
  readonly from: Position | undefined
  readonly keptMs: number
  readonly signal: AbortSignal
}

/** Rows that are read at once. */
const pageSize = 1_000
/** The newest rows are kept in memory, so that readers that are up to date do not query the database. */
const mostRecent = 4 * pageSize
/**
 * How often rows are read without a notification. Notifications may be lost together with their
 * connection, and readers rely on a sign of life.
 */
const intervalMs = 1_000
/** Without notifications, revocations still have to take effect within a second. */
const pollingMs = 250

export function openRevocationFeed(settings: FeedSettings): RevocationFeed {
  const { db, log, now, listen } = settings
  const readers = new Set<AbortController>()
  let notifications: Notifications | undefined
  let timer: NodeJS.Timeout | undefined
  /** Contains every row with an ID above `recentAfter`. */
  let recent: RevocationRow[] = []
  let recentAfter: number | undefined
  let refreshing: Promise<void> | undefined
  let isNotified = false
  let changed = Promise.withResolvers<void>()
  let hasFailed = false
  let isClosed = false

  async function readRecent(): Promise<void> {
    if (recentAfter === undefined) {
      const [newest] = await db.run(findRevocation, { id: null })
      recentAfter = newest?.id ?? 0
    }
    let page: readonly RevocationRow[]
    do {
      const after = recent.at(-1)?.id ?? recentAfter
      page = await db.run(listRevocations, { after, since: new Date(0), limit: pageSize })
      recent.push(...page)
      const surplus = recent.splice(0, recent.length - mostRecent)
      recentAfter = surplus.at(-1)?.id ?? recentAfter
    } while (page.length === pageSize)
  }

  /** One query at a time; a notification that arrives meanwhile causes another. */
  async function refresh(): Promise<void> {
    isNotified = true
    refreshing ??= refreshNow().finally(() => {
      refreshing = undefined
      if (isNotified) void refresh()
    })
    await refreshing
  }

  async function refreshNow(): Promise<void> {
    clearTimeout(timer)
    try {
      while (isNotified) {
        isNotified = false
        await readRecent()
      }
      // Rows may be missing after a failover or a restore: clients connect again, which checks their positions.
      if (hasFailed) endReaders()
      hasFailed = false
      changed.resolve()
      changed = Promise.withResolvers()
    } catch (error) {
      // Readers get no sign of life meanwhile.
      if (!hasFailed) log.warning(`Revocations cannot be read: ${toReason(error)}`)
      hasFailed = true
      isNotified = false
    }
    if (readers.size === 0) return
    const waitMs = notifications?.isListening === true ? intervalMs : pollingMs
    timer = setTimeout(() => void refresh(), waitMs).unref()
  }

  function endReaders(): void {
    recent = []
    recentAfter = undefined
    for (const reader of readers) reader.abort()
  }

  async function add(reader: AbortController): Promise<void> {
    readers.add(reader)
    notifications ??= listen(() => void refresh())
    await refresh()
  }

  async function remove(reader: AbortController): Promise<void> {
    readers.delete(reader)
    if (readers.size > 0) return
    clearTimeout(timer)
    recent = []
    recentAfter = undefined
    const unused = notifications
    notifications = undefined
    await unused?.[Symbol.asyncDispose]()
  }

  /** The rows after an ID; those that are not in memory are read from the database. */
  async function readAfter(after: number, keptMs: number): Promise<readonly RevocationRow[]> {
    if (recentAfter !== undefined && after >= recentAfter) {
      return recent.filter(({ id }) => id > after).slice(0, pageSize)
    }
    const since = new Date(now() - keptMs)
    return await db.run(listRevocations, { after, since, limit: pageSize })
  }

  async function findStart(from: Position | undefined): Promise<number> {
    if (from === undefined) return 0
    // After the database was restored from a backup, an ID may belong to another row.
    const [row] = await db.run(findRevocation, { id: from.id })
    return row?.revoked_ms === from.revokedMs ? row.id : 0
  }

  return {
    get state() {
      return { readers: readers.size, isListening: notifications?.isListening ?? false }
    },
    async *read({ from, keptMs, signal }) {
      const reader = new AbortController()
      const isEnded = AbortSignal.any([signal, reader.signal])
      const ended = new Promise<void>((resolve) => {
        isEnded.addEventListener('abort', () => resolve(), { once: true })
      })
      try {
        await add(reader)
        let after = await findStart(from)
        while (!isEnded.aborted && !isClosed) {
          const next = changed.promise
          // The rows in memory may be out of date, and a page would be a sign of life.
          if (hasFailed) {
            await Promise.race([next, ended])
            continue
          }
          const rows = await readAfter(after, keptMs)
          yield rows
          after = rows.at(-1)?.id ?? after
          if (rows.length === 0) await Promise.race([next, ended])
        }
      } finally {
        await remove(reader)
      }
    },
    endReaders,
    async [Symbol.asyncDispose]() {
      isClosed = true
      for (const reader of readers) reader.abort()
      clearTimeout(timer)
      await notifications?.[Symbol.asyncDispose]()
    },
  }
}

/** For commands, which have no clients. */
export const noRevocationFeed: RevocationFeed = {
  state: { readers: 0, isListening: false },
  async *read() {},
  endReaders() {},
  async [Symbol.asyncDispose]() {},
}
