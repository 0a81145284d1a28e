import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import { type ClientBase, type ClientConfig, Pool, type PoolClient } from 'pg'
import { toConnectionError } from '../database-errors.ts'
import { parseConnectionUrl } from './connection-url.ts'
import { connectBy, RoutedClient } from './open-client.ts'
import { type PoolShare, readPoolLimit } from './pool-limit.ts'
import { Routes } from './routes.ts'
import type { ConnectionFacts, SessionSettings } from './session-settings.ts'
import { watchConnections } from './watch-connections.ts'

export interface PoolSettings {
  /** `postgres://…` */
  readonly url: string
  /** Undefined: `percentage` determines it. */
  readonly maxPoolSize: number | undefined
  /** Percentage of the connections of PostgreSQL that all our processes together may use. */
  readonly percentage?: number
  /**
   * The number of processes that is assumed at least, because processes that start together do not
   * see each other yet.
   */
  readonly fewestProcesses?: number
  /** How often the limit is updated. */
  readonly limitIntervalMs?: number
  readonly idleTimeoutMs: number
  /** 0: unlimited. */
  readonly maxLifetimeMs?: number
  /** 0: unlimited. */
  readonly maxIdle?: number
  /** How often idle connections are checked; 0: never. */
  readonly healthCheckMs?: number
  /** Maximum duration of a statement; 0: unlimited. */
  readonly statementTimeoutMs?: number
  readonly log: PoolLog
  /** Called with the time that a statement waited for a connection. */
  readonly onWaited?: (waitMs: number) => void
}

type PoolLog = Pick<Log, 'warning'> & Partial<Pick<Log, 'info'>>

/** The state of the pool. */
export interface PoolState {
  readonly used: number
  readonly idle: number
  /** Statements that wait for a connection. */
  readonly waiting: number
  /** The current maximum; undefined until it was read from PostgreSQL. */
  readonly limit: number | undefined
}

export interface Checkout {
  readonly client: PoolClient
  readonly facts: ConnectionFacts
  /**
   * May be called repeatedly; only the first call has an effect.
   * @param isKept false if the state of the connection is unknown.
   */
  release(isKept: boolean): void
}

const defaultName = 'portcullis-auth'
const defaultPercentage = 50
const longestWaitMs = 10_000
/** How long to wait for PostgreSQL to close our connections. */
const closeTimeoutMs = 2_000
/**
 * The driver times out this much later than PostgreSQL. A connection can be kept after a timeout of
 * PostgreSQL, but not after one of the driver.
 */
const graceMs = 1_000
const defaultLimitIntervalMs = 5_000
/** How long an idle connection may take to respond to a check. */
const healthTimeoutMs = 5_000
/** For servers that are compatible with PostgreSQL but do not report their limits. */
const cautiousLimit = 20

export class ConnectionPool implements AsyncDisposable {
  readonly #pool: Pool
  readonly #routes: Routes
  readonly #facts = new WeakMap<ClientBase, ConnectionFacts>()
  readonly #settings: PoolSettings
  readonly #session: SessionSettings
  readonly #share: PoolShare
  readonly #untilClosed: () => Promise<void>
  readonly #timer: NodeJS.Timeout | undefined
  readonly #healthTimer: NodeJS.Timeout | undefined
  /** When a connection was last used for a statement. */
  readonly #lastUsedMs = new WeakMap<ClientBase, number>()
  #limit: number | undefined
  #firstLimit: Promise<void> | undefined
  #isUpdating = false
  #isPoolerKnown = false

  /** @param session the settings that our statements rely on. */
  constructor(settings: PoolSettings, session: SessionSettings) {
    const { statementTimeoutMs = 0, maxLifetimeMs = 0, healthCheckMs = 0, log } = settings
    const url = parseConnectionUrl(settings.url)
    // The wait for a connection ends before the time limit of the request.
    const waitMs = Math.min(statementTimeoutMs / 2 || longestWaitMs, longestWaitMs)
    const routes = new Routes({ url, settings: session, timeoutMs: waitMs })
    const commonName = (url.applicationName ?? defaultName).slice(0, 50)
    const ownName = `${commonName} ${randomBytes(4).toString('hex')}`
    class PooledClient extends RoutedClient {
      constructor(config: ClientConfig) {
        super(routes, config)
      }
    }
    const pool = new Pool({
      // The types declare a class without parameters, but the driver passes these settings.
      Client: PooledClient as unknown as new () => ClientBase,
      max: settings.maxPoolSize ?? cautiousLimit,
      idleTimeoutMillis: settings.idleTimeoutMs,
      maxLifetimeSeconds: maxLifetimeMs / 1_000,
      connectionTimeoutMillis: Math.ceil(waitMs),
      // Detects a server that disappeared without closing the connection.
      keepAlive: true,
      ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + graceMs }),
      application_name: ownName,
      // The pool waits for the promise, although the types do not declare that.
      onConnect: this.#examine.bind(this) as (client: ClientBase) => void,
    })
    // An idle connection was lost; the next statement gets another one.
    pool.on('error', (error) => log.warning(`Lost a connection to PostgreSQL: ${error.message}`))
    // A connection in use was lost: its statement fails, if one is running.
    pool.on('connect', (client) => client.on('error', ignore))
    this.#pool = pool
    this.#routes = routes
    this.#settings = settings
    this.#session = session
    this.#share = {
      percentage: settings.percentage ?? defaultPercentage,
      fewestProcesses: settings.fewestProcesses ?? 1,
      commonName,
      ownName,
    }
    this.#untilClosed = watchConnections(pool)
    this.#limit = settings.maxPoolSize
    if (healthCheckMs > 0) {
      this.#healthTimer = setInterval(() => void this.#checkIdle(), healthCheckMs).unref()
    }
    if (settings.maxPoolSize !== undefined) return
    const { limitIntervalMs = defaultLimitIntervalMs } = settings
    this.#timer = setInterval(() => void this.#updateLimit(), limitIntervalMs).unref()
  }

  onConnect(listen: (client: ClientBase) => void): void {
    this.#pool.on('connect', listen)
  }

  /**
   * Returns a free connection, or opens one.
   * @throws {DatabaseLostError}
   */
  async acquire(): Promise<Checkout> {
    const start = performance.now()
    try {
      this.#firstLimit ??= this.#limit === undefined ? this.#readFirstLimit() : undefined
      await this.#firstLimit
      return await this.#checkOut()
    } catch (error) {
      throw toConnectionError(error)
    } finally {
      this.#settings.onWaited?.(performance.now() - start)
    }
  }

  get state(): PoolState {
    const { totalCount, idleCount, waitingCount } = this.#pool
    return {
      used: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount,
      limit: this.#limit,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    clearInterval(this.#healthTimer)
    if (this.#pool.ending) return
    await this.#pool.end()
    // The pool does not wait until connections are closed. PostgreSQL may be stopped next, and
    // would log an error for each open connection.
    await Promise.race([this.#untilClosed(), sleep(closeTimeoutMs, undefined, { ref: false })])
  }

  async #checkOut(): Promise<Checkout> {
    const client = await connectBy(this.#routes, () => this.#pool.connect())
    const facts = this.#facts.get(client)
    if (facts === undefined) throw new Error('The connection was not examined')
    let isReleased = false
    return {
      client,
      facts,
      release: (isKept) => {
        if (isReleased) return
        isReleased = true
        this.#lastUsedMs.set(client, performance.now())
        client.release(!isKept || this.#isTooMany())
      },
    }
  }

  /**
   * Checks all idle connections at once, because the pool hands out the same one repeatedly. Their
   * idle time is not reset.
   */
  async #checkIdle(): Promise<void> {
    if (this.#pool.ending || this.#pool.waitingCount > 0) return
    const idle = Array.from({ length: this.#pool.idleCount }, () => this.#pool.connect())
    await Promise.allSettled(
      idle.map(async (connecting) => this.#checkConnection(await connecting)),
    )
  }

  async #checkConnection(client: PoolClient): Promise<void> {
    const { idleTimeoutMs, log } = this.#settings
    try {
      await Promise.race([client.query('select 1'), rejectAfter(healthTimeoutMs)])
      const idleMs = performance.now() - (this.#lastUsedMs.get(client) ?? 0)
      client.release(idleMs >= idleTimeoutMs || this.#isTooMany())
    } catch (error) {
      const reason = toReason(error)
      log.warning(`Closed an idle connection to PostgreSQL that no longer works: ${reason}`)
      client.release(true)
    }
  }

  /** Whether a released connection exceeds the limit. */
  #isTooMany(): boolean {
    const { totalCount, idleCount } = this.#pool
    const { maxIdle = 0 } = this.#settings
    return totalCount > (this.#limit ?? totalCount) || (maxIdle > 0 && idleCount >= maxIdle)
  }

  async #examine(client: ClientBase): Promise<void> {
    if (!(client instanceof RoutedClient))
      throw new TypeError('The pool created an unexpected client')
    const facts = await client.examine(this.#session)
    this.#facts.set(client, facts)
    if (facts.isOwn || this.#isPoolerKnown) return
    this.#isPoolerKnown = true
    this.#settings.log.info?.(
      'Connected to PostgreSQL through a connection pooler: settings are sent with every transaction, and statements are not prepared unless AUTH_DB_PREPARED_STATEMENTS=on',
    )
  }

  /** No other connection is opened before the limit is known. */
  async #readFirstLimit(): Promise<void> {
    try {
      await this.#readLimit()
    } catch (error) {
      this.#firstLimit = undefined
      throw error
    }
  }

  /** The number of our processes and the limits of PostgreSQL change over time. */
  async #updateLimit(): Promise<void> {
    if (this.#limit === undefined || this.#isUpdating || this.#pool.totalCount === 0) return
    this.#isUpdating = true
    // Statements report the failure; the limit stays unchanged.
    await this.#readLimit().catch(ignore)
    this.#isUpdating = false
  }

  async #readLimit(): Promise<void> {
    const { client, release } = await this.#checkOut()
    try {
      this.#limit = await readPoolLimit(client, this.#share)
      release(true)
    } catch (error) {
      release(false)
      if (this.#limit !== undefined || !(error instanceof Error) || !('routine' in error))
        throw error
      this.#limit = cautiousLimit
      this.#settings.log.warning(
        `PostgreSQL does not report how many connections it allows (${error.message}): this process opens at most ${cautiousLimit}. Set AUTH_DB_MAX_POOL_SIZE to choose another limit`,
      )
    }
    this.#pool.options.max = this.#limit
  }
}

async function rejectAfter(timeoutMs: number): Promise<never> {
  await sleep(timeoutMs, undefined, { ref: false })
  throw new Error(`no response within ${timeoutMs} ms`)
}

function ignore(): void {}
