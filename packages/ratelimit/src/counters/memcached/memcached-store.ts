import { FailureLog } from '@portcullis/service-kit/log/failure-log'
import {
  type Counted,
  CounterKeyError,
  type CounterStore,
  highestCount,
  type Increment,
  StoreError,
} from '../counter-store.ts'
import { loadClientTls } from '../network/client-tls.ts'
import { toShare } from '../sliding-window.ts'
import { Call, Read } from './call.ts'
import { malformed } from './counter-name.ts'
import { createToExpiry } from './expiry.ts'
import { groupByNode, type Target, toTargets } from './named-counter.ts'
import { NodeList } from './node-list.ts'
import { type MemcachedSettings, memcachedDefaults } from './settings.ts'
import { SrvLookup } from './srv.ts'
import { createMemcachedStatistics, type MemcachedStatistics } from './statistics.ts'
import { type WriteContext, write } from './write.ts'

/**
 * A counter store in memcached, which counts approximately: it reads the counters, returns what they
 * will be, and writes afterwards. Calls that read at the same time get the same counts; every hit is
 * still counted once.
 *
 * The counters of a node that cannot be read are 0, and no call waits for it, as in envoyproxy/ratelimit.
 */
export interface MemcachedStore extends CounterStore {
  /**
   * Resolves when the nodes are known and a connection to each was attempted; a node that is down is not an
   * error. Rejects when the SRV record cannot be resolved. Earlier calls fail.
   */
  readonly ready: Promise<void>
}

/** @throws Error when an address or the TLS files cannot be used */
export function openMemcachedStore(settings: MemcachedSettings): MemcachedStore {
  return new Store({ ...memcachedDefaults, ...settings })
}

const noNodes = 'memcache: no servers configured or available'
const closed = 'memcached: the store is closed'
/** The maximum number of names of a call in a log line. */
const maxLoggedNames = 10

type AllSettings = MemcachedSettings &
  Required<Pick<MemcachedSettings, keyof typeof memcachedDefaults>>

class Store implements MemcachedStore {
  readonly ready: Promise<void>
  readonly #settings: AllSettings
  readonly #statistics: MemcachedStatistics
  readonly #nodes: NodeList
  readonly #lookup: SrvLookup | undefined
  readonly #writes: WriteContext
  readonly #readFailures: FailureLog
  #finished: Promise<void> | undefined

  constructor(settings: AllSettings) {
    const { nodes, log, statistics = createMemcachedStatistics(), now = Date.now } = settings
    this.#settings = settings
    this.#statistics = statistics
    this.#nodes = this.#openNodes()
    this.#readFailures = new FailureLog((line) => log.error(line))
    this.#writes = {
      statistics,
      failures: new FailureLog((line) => log.error(line)),
      toExpiry: createToExpiry({ ...settings, now }),
    }
    if (nodes.kind === 'list') {
      if (nodes.hosts.length === 0) throw new Error(noNodes)
      this.#nodes.replace(nodes.hosts)
    } else {
      this.#lookup = new SrvLookup({
        ...nodes,
        resolveSrv: settings.resolveSrv,
        onAddresses: (addresses) => this.#useNodes(addresses),
        log,
      })
    }
    this.ready = this.#start()
    // Callers that do not await it see the error in their calls.
    this.ready.catch(() => undefined)
  }

  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#call(increments, deadlineMs, counted, this.#count)
  }

  /**
   * Like `add`: the counts may change between the read and the writes, and envoyproxy/ratelimit does not
   * support STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT with memcached either.
   */
  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.add(increments, deadlineMs, counted)
  }

  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#call(increments, deadlineMs, counted, this.#show)
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#lookup?.[Symbol.dispose]()
    this.#finished ??= this.#nodes.finish(closed)
    return this.#finished
  }

  #call(
    increments: readonly Increment[],
    deadlineMs: number,
    counted: Counted,
    onRead: (call: Call) => void,
  ): void {
    const nowMs = performance.now()
    const refusal = this.#refuse(deadlineMs, nowMs)
    if (refusal !== undefined) {
      counted(new StoreError(refusal))
      return
    }
    if (increments.length === 0) {
      counted(undefined)
      return
    }
    const targets = toTargets(increments, this.#nodes, this.#settings.hashesLongNames)
    if (targets === undefined) {
      this.#statistics.multiget.error.value++
      counted(new CounterKeyError(malformed))
      return
    }
    const endsAtMs = Math.min(deadlineMs, nowMs + this.#settings.timeoutMs)
    this.#read(new Call(targets, endsAtMs, counted, onRead))
  }

  #refuse(deadlineMs: number, nowMs: number): string | undefined {
    if (this.#finished !== undefined) return closed
    if (this.#nodes.length === 0) return noNodes
    if (deadlineMs <= nowMs) return 'memcached was not called: the deadline of the call has passed'
    return undefined
  }

  /** Sends one `get` per node, all at the same time. */
  #read(call: Call): void {
    const groups = groupByNode(call.targets)
    call.nodesLeft = groups.length
    for (const counters of groups) {
      this.#statistics.keysRequested.value += counters.length
      const read = new Read(call, counters)
      const refusal = counters[0]?.node.connection.send(read.command, read)
      if (refusal !== undefined) read.fail(refusal)
    }
  }

  readonly #show = (call: Call): void => {
    this.#noteRead(call)
    if (this.#isFailed(call)) return
    for (const target of call.targets) report(target, toPresentCount(target))
    call.counted(undefined)
  }

  /**
   * The writes join the commands of this turn, which are sent after the caller was answered. They are
   * queued before that, so the caller's next call comes after them, and consecutive calls count exactly.
   */
  readonly #count = (call: Call): void => {
    this.#noteRead(call)
    if (this.#isFailed(call)) return
    for (const target of call.targets) {
      const { hits, most, overlapMs } = target.increment
      const withHits = toPresentCount(target) + hits
      const isFull = overlapMs > 0 && hits > 0 && withHits > most
      if (!isFull) this.#change(target)
      report(target, isFull ? withHits : toPresentCount(target))
    }
    call.counted(undefined)
  }

  /** Nothing is written after a failure: the caller decides without these counts. */
  #isFailed({ failure, counted }: Call): boolean {
    if (failure === undefined || !this.#settings.failsUnread) return false
    counted(failure)
    return true
  }

  #change({ increment, counter }: Target): void {
    const { unitSeconds, overlapMs } = increment
    // memcached would wrap around to 0.
    const hits = Math.min(increment.hits, Math.max(0, highestCount - counter.count))
    if (hits === 0) return
    counter.count = Math.max(0, counter.count + hits)
    // A sliding window is also needed while it is the previous window.
    const lifeSeconds = overlapMs > 0 ? 2 * unitSeconds : unitSeconds
    const change = { name: counter.name, hits, lifeSeconds }
    write(counter.node.connection, change, counter.isMissing, this.#writes)
    // The next increment of the same counter finds the counter that this one creates.
    if (hits > 0) counter.isMissing = false
  }

  #noteRead({ targets, found, failure }: Call): void {
    const { multiget, keysFound } = this.#statistics
    keysFound.value += found
    if (failure === undefined) {
      multiget.success.value++
      return
    }
    multiget.error.value++
    this.#readFailures.report(() => {
      const names = targets.slice(0, maxLoggedNames).map(({ counter }) => counter.name)
      if (targets.length > names.length) names.push('…')
      return `Error multi-getting memcache keys (${names.join(' ')}): ${failure.message}`
    })
  }

  #openNodes(): NodeList {
    const { tls, timeoutMs, maxIdleConnections, isBackground, log } = this.#settings
    const losses = new FailureLog((line) => log.warning(line))
    const returns = new FailureLog((line) => log.warning(line))
    return new NodeList({
      tls: tls && loadClientTls('memcached', tls),
      timeoutMs,
      isBackground,
      maxConnections: Math.max(1, maxIdleConnections),
      onDown: (reason) => losses.report(() => `No connection: ${reason.message}`),
      onReturn: (name) => returns.report(() => `Connected again: ${name}`),
    })
  }

  async #start(): Promise<void> {
    await this.#lookup?.start()
    await this.#nodes.tryAll()
    const { addresses, unreached } = this.#nodes
    this.#settings.log.info(`Counting in memcached (${addresses.join(', ')})`)
    if (unreached.length === 0) return
    this.#settings.log.warning(
      `memcached cannot be reached at ${unreached.join(', ')}: limits that are counted there are not enforced until it can`,
    )
  }

  #useNodes(addresses: readonly string[]): void {
    const isKnown = addresses.join() === this.#nodes.addresses.join()
    if (isKnown || this.#finished !== undefined) return
    if (this.#nodes.length > 0) {
      this.#settings.log.info(`The memcached nodes are now ${addresses.join(', ')}`)
    }
    this.#nodes.replace(addresses)
  }
}

function toPresentCount({ increment, counter, previous }: Target): number {
  if (previous === undefined) return counter.count
  const { overlapMs, unitSeconds } = increment
  return counter.count + toShare(previous.count, overlapMs, unitSeconds)
}

function report({ increment, previous }: Target, after: number): void {
  increment.after = after
  if (previous !== undefined) increment.previous = previous.count
}
