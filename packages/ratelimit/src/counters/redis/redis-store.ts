import { type Counted, type CounterStore, type Increment, StoreError } from '../counter-store.ts'
import { loadClientTls } from '../network/client-tls.ts'
import { readThenAdd } from '../read-then-add.ts'
import { parseRedisAuth, type RedisAddress, toAddressText } from './address.ts'
import { Call } from './connection/call.ts'
import type { Loss } from './connection/connection.ts'
import { Counting } from './counting.ts'
import { KnownCounters } from './known-counters.ts'
import { ConnectionCounters, type RedisSettings, redisDefaults } from './settings.ts'
import { tryUntilReady } from './startup.ts'
import { Cluster } from './topology/cluster.ts'
import { createSentinel } from './topology/sentinel.ts'
import { createSingle } from './topology/single.ts'
import type { Topology, TopologyContext } from './topology/topology.ts'

/** A counter store in Redis. Calls made before it is ready fail at once. */
export interface RedisStore extends CounterStore {
  /** Resolves when Redis answers. Rejects when the startup time is over or the store is closed first. */
  readonly ready: Promise<void>
}

/**
 * @throws Error when the TLS files cannot be used. An unreachable Redis is not an error: the store keeps
 * trying until `startup.maxElapsedMs` has passed.
 */
export function openRedisStore(settings: RedisSettings): RedisStore {
  return new Store({ ...redisDefaults, ...settings })
}

const closed = 'Redis: the store is closed'

/** The minimum interval between log lines about lost connections. */
const logPauseMs = 1_000

type AllSettings = RedisSettings & Required<Pick<RedisSettings, keyof typeof redisDefaults>>

class Store implements RedisStore {
  readonly ready: Promise<void>
  readonly #settings: AllSettings
  readonly #counters: ConnectionCounters
  readonly #known = new KnownCounters()
  readonly #counting: Counting
  readonly #topology: Topology
  readonly #closing = new AbortController()
  readonly #firstConnection = Promise.withResolvers<void>()
  #loggedAtMs = Number.NEGATIVE_INFINITY
  /** The number of lost connections that have not been replaced yet. */
  #missing = 0
  /** When the first connection was lost, if that was logged. */
  #lostAtMs: number | undefined

  constructor(settings: AllSettings) {
    this.#settings = settings
    this.#counters = settings.counters ?? new ConnectionCounters()
    this.#counting = new Counting({
      ...settings,
      known: this.#known,
      topology: () => this.#topology,
      addInSteps: (call) => {
        const { increments, deadlineMs } = call
        readThenAdd(this, increments, deadlineMs, call.release())
      },
    })
    this.#topology = createTopology(settings.address, this.#toTopologyContext())
    this.ready = this.#start()
    // Callers that do not await it see the error in the log.
    this.ready.catch(() => undefined)
    this.#firstConnection.promise.catch(() => undefined)
  }

  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    const call = this.#open(false, increments, deadlineMs, counted)
    if (call !== undefined) this.#send(call)
  }

  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    const [first] = increments
    if (first === undefined || increments.length === 1) {
      // There is no other counter that has to stay unchanged.
      this.add(increments, deadlineMs, counted)
    } else if (this.#counting.maySpare && this.#topology.hasInOnePlace(increments)) {
      const call = this.#open(false, increments, deadlineMs, counted)
      if (call === undefined) return
      this.#counting.sendSparing(this.#topology.connectionFor(first), call)
    } else {
      readThenAdd(this, increments, deadlineMs, counted)
    }
  }

  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    const call = this.#open(true, increments, deadlineMs, counted)
    if (call !== undefined) this.#send(call)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.#topology.close(closed)
    this.#firstConnection.reject(new StoreError(closed))
  }

  /** Returns `undefined` when the caller was already answered. */
  #open(
    isRead: boolean,
    increments: readonly Increment[],
    deadlineMs: number,
    counted: Counted,
  ): Call | undefined {
    const nowMs = performance.now()
    if (deadlineMs <= nowMs) {
      counted(new StoreError('Redis was not called: the deadline of the call has passed'))
      return undefined
    }
    if (increments.length === 0) {
      counted(undefined)
      return undefined
    }
    const endsAtMs = Math.min(deadlineMs, nowMs + this.#settings.commandTimeoutMs)
    return new Call(isRead, increments, endsAtMs, counted)
  }

  #send(call: Call): void {
    const { increments } = call
    for (let i = 0; i < increments.length && !call.isDone; i++) {
      const increment = increments[i]
      if (increment === undefined) continue
      this.#counting.send(this.#topology.connectionFor(increment), call, increment)
    }
  }

  #toTopologyContext(): TopologyContext {
    const { address, auth, sentinelAuth, tls, connectTimeoutMs, poolSize, log } = this.#settings
    const { pipelineWindowMs, pipelineLimit, commandTimeoutMs, isBackground } = this.#settings
    const usesTls = tls !== undefined || address.usesTls
    return {
      link: {
        credentials: parseRedisAuth(auth) ?? address.credentials,
        database: address.database,
        tls: usesTls ? loadClientTls('Redis', tls ?? {}) : undefined,
        // An attempt without a timeout would prevent the next one.
        connectTimeoutMs: connectTimeoutMs > 0 ? connectTimeoutMs : redisDefaults.connectTimeoutMs,
        isBackground,
      },
      connection: {
        replies: this.#counting,
        pipelineWindowMs,
        pipelineLimit,
        commandTimeoutMs,
        isBackground,
        onOpen: () => this.#onOpen(),
        onDown: (loss) => this.#onDown(loss),
      },
      poolSize: Math.max(1, poolSize),
      sentinelCredentials: parseRedisAuth(sentinelAuth),
      log,
    }
  }

  async #start(): Promise<void> {
    const { address, log, startup, isBackground, onFailedStart } = this.#settings
    const name = toAddressText(address)
    const { signal } = this.#closing
    await tryUntilReady(() => this.#topology.discover(), {
      ...startup,
      name,
      log,
      signal,
      isBackground,
      onFailedAttempt: onFailedStart,
    })
    this.#topology.start()
    await this.#firstConnection.promise
    log.info(`Counting in Redis (${name})`)
  }

  #onOpen(): void {
    this.#counters.total.value++
    this.#counters.active++
    this.#noteReturn()
    if (this.#counters.active > 1) return
    this.#firstConnection.resolve()
    this.#settings.onActive?.(true)
  }

  #onDown({ wasOpen, isLossy, isLocalClose, reason }: Loss): void {
    // The next server may lack counters that existed or were being created. After the store is closed
    // there are no more calls, and clearing the whole table would dominate the time of closing.
    if (isLossy && !this.#closing.signal.aborted) this.#known.forgetAll()
    if (!wasOpen) return
    if (isLocalClose) this.#counters.localClose.value++
    this.#counters.active--
    if (this.#counters.active === 0) this.#settings.onActive?.(false)
    this.#missing++
    if (this.#closing.signal.aborted || performance.now() < this.#loggedAtMs + logPauseMs) return
    this.#loggedAtMs = performance.now()
    this.#lostAtMs ??= this.#loggedAtMs
    this.#settings.log.warning(`Lost a connection: ${reason.message}`)
  }

  /** Logs one line for a loss that was logged, however many connections were lost. */
  #noteReturn(): void {
    if (this.#missing === 0) return
    this.#missing--
    if (this.#missing > 0 || this.#lostAtMs === undefined) return
    const seconds = ((performance.now() - this.#lostAtMs) / 1_000).toFixed(1)
    this.#lostAtMs = undefined
    const name = toAddressText(this.#settings.address)
    this.#settings.log.warning(`Connected to Redis again (${name}), after ${seconds} s`)
  }
}

function createTopology(address: RedisAddress, context: TopologyContext): Topology {
  if (address.type === 'single') return createSingle(address, context)
  if (address.type === 'sentinel') return createSentinel(address, context)
  return new Cluster(address, context)
}
