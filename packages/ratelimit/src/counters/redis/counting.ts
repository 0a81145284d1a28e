import { type Increment, StoreError } from '../counter-store.ts'
import type { Call } from './call.ts'
import type { Connection, Replies } from './connection.ts'
import type { KnownCounters } from './known-counters.ts'
import { expected } from './reply-queue.ts'
import { type Reply, ReplyError } from './resp-reader.ts'
import type { RedisSettings } from './settings.ts'
import type { Topology } from './topology.ts'

export interface CountingSettings {
  readonly topology: () => Topology
  readonly known: KnownCounters
  readonly expirationJitterMaxSeconds: number
  readonly log: RedisSettings['log']
}

type Redirection = '' | 'MOVED' | 'ASK'

/**
 * Never below 0, whatever happens at the same time; a counter that is not there is not made. Lua
 * counts in doubles, so above 2^53 the first step may take a little too much.
 */
const refundScript = `
local count = tonumber(redis.call('GET', KEYS[1]) or '0')
local change = math.max(tonumber(ARGV[1]), -count)
if change >= 0 then return math.max(count, 0) end
local after = redis.call('INCRBY', KEYS[1], string.format('%.0f', change))
if after < 0 then after = redis.call('INCRBY', KEYS[1], string.format('%.0f', -after)) end
return after`

/** A server that says so has lost its place: a new connection may find the right one (6.2). */
const misplaced: ReadonlySet<string> = new Set(['READONLY', 'LOADING', 'MASTERDOWN'])

/**
 * The commands of a count and what their replies mean.
 *
 * A counter must never be without an end of life, also when this process dies between two commands.
 * So a counter that this process does not know is made with its TTL (`SET key 0 EX ttl NX`) before
 * it counts (`INCRBY`), in the same write. A counter that it knows is only counted. When the SET
 * finds the counter made by somebody else, or a known counter turns out to have vanished, `EXPIRE`
 * follows the reply.
 */
export class Counting implements Replies {
  readonly #settings: CountingSettings
  readonly #jitterSeconds: number
  #hasWarned = false

  constructor(settings: CountingSettings) {
    this.#settings = settings
    this.#jitterSeconds = Math.trunc(settings.expirationJitterMaxSeconds)
  }

  /**
   * Writes the command of one increment. The call fails when it cannot be sent.
   * @param redirectedBy what a cluster answered to the same increment before.
   */
  send(
    connection: Connection | undefined,
    call: Call,
    increment: Increment,
    redirectedBy: Redirection = '',
  ): void {
    if (connection === undefined) {
      call.fail(new StoreError('Redis Cluster: no node holds the slot of this counter now'))
      return
    }
    const refusal = connection.refuse()
    if (refusal !== undefined) {
      call.fail(refusal)
      return
    }
    if (!call.isRead && increment.hits >= 0) {
      this.#count(connection, call, increment, redirectedBy)
    } else {
      if (redirectedBy === 'ASK') ask(connection)
      if (call.isRead) connection.commands.read(increment.key, increment.window)
      else writeRefund(connection, increment)
      connection.expect(expected.value, call, increment)
    }
    connection.flushSoon()
  }

  onInteger(from: Connection, kind: number, call: Call, increment: Increment, value: number): void {
    if (kind === expected.nothing) return
    const needsTtl =
      kind === expected.count ? value === increment.hits : kind === expected.foreignCount
    if (needsTtl) this.#expire(from, call, increment)
    call.answer(increment, value)
  }

  onReply(from: Connection, kind: number, call: Call, increment: Increment, reply: Reply): void {
    if (reply instanceof ReplyError) {
      this.#onError(from, kind, call, increment, reply)
    } else if (kind === expected.creation) {
      if (reply !== 'OK') from.reinterpret(expected.foreignCount)
    } else if (kind !== expected.nothing) {
      const count = Number(reply ?? 0)
      if (Number.isInteger(count)) call.answer(increment, count)
      else call.fail(new StoreError(`${from.name}: the counter is not a number`))
    }
  }

  #count(
    connection: Connection,
    call: Call,
    increment: Increment,
    redirectedBy: Redirection,
  ): void {
    const { commands } = connection
    const { key, window, hits } = increment
    const start = commands.length
    commands.count(key, window, hits)
    const { known } = this.#settings
    const isKnown = known.recall(commands.view, commands.keyStart, commands.keyEnd, increment)
    // What the node that sent it away knew of it says nothing about the one that has it now.
    if (isKnown && redirectedBy === '') {
      connection.expect(expected.count, call, increment)
      // Without a random part the TTL ends with the window, so every count has to renew it.
      if (this.#jitterSeconds <= 1) this.#expire(connection, call, increment)
      return
    }
    commands.rewind(start)
    const isAsking = redirectedBy === 'ASK'
    if (isAsking) ask(connection)
    commands.createCounter(key, window, this.#ttlSeconds(increment))
    // Whoever brought a counter to a node that is only receiving its slot gave it a TTL.
    connection.expect(isAsking ? expected.nothing : expected.creation, call, increment)
    if (isAsking) ask(connection)
    commands.count(key, window, hits)
    connection.expect(expected.firstCount, call, increment)
  }

  #expire(connection: Connection, call: Call, increment: Increment): void {
    if (!connection.isAccepting) return
    const { key, window } = increment
    connection.commands.expire(key, window, this.#ttlSeconds(increment))
    connection.expect(expected.nothing, call, increment)
    connection.flushSoon()
  }

  /**
   * The unit and a random part, so that the counters of a window do not all end in one moment. The
   * random part is at least 1: a count that arrives late still finds the counter of its window.
   */
  #ttlSeconds({ unitSeconds }: Increment): number {
    if (this.#jitterSeconds <= 1) return unitSeconds
    return unitSeconds + 1 + Math.floor(Math.random() * (this.#jitterSeconds - 1))
  }

  #onError(
    from: Connection,
    kind: number,
    call: Call,
    increment: Increment,
    error: ReplyError,
  ): void {
    const { code } = error
    if (misplaced.has(code)) {
      call.fail(new StoreError(`${from.name}: ${error.message}`))
      from.drop(error.message)
    } else if (kind === expected.creation) {
      // The count itself decides: it meets the same error, or a user who may not SET (an ACL made
      // for the commands of envoyproxy/ratelimit) still gets counters that end.
      from.reinterpret(expected.foreignCount)
    } else if (kind === expected.nothing) {
      this.#warnOnce(`${from.name}: a counter may have no TTL, EXPIRE failed: ${error.message}`)
    } else if (code === 'MOVED' || code === 'ASK') {
      this.#redirect(from, call, increment, error, code)
    } else {
      call.fail(new StoreError(`${from.name}: ${error.message}`))
    }
  }

  #redirect(
    from: Connection,
    call: Call,
    increment: Increment,
    error: ReplyError,
    redirectedBy: Redirection,
  ): void {
    const to = this.#settings.topology().redirect(error)
    // Nobody waits for it any more, and whether it was counted is unknown anyway.
    if (call.isDone) return
    if (to === undefined) {
      call.fail(
        new StoreError(`${from.name}: ${error.message} (a Redis Cluster needs the type cluster)`),
      )
    } else if (call.redirectionsLeft-- <= 0) {
      call.fail(new StoreError(`${from.name}: too many redirections, the last: ${error.message}`))
    } else {
      this.send(to, call, increment, redirectedBy)
    }
  }

  #warnOnce(message: string): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#settings.log.warning(message)
  }
}

/** A slot that is moving answers at its new node only to who says that it was sent there. */
function ask(connection: Connection): void {
  connection.commands.command(['ASKING'])
  connection.expectNothing()
}

function writeRefund({ commands }: Connection, { key, window, hits }: Increment): void {
  commands.command(['EVAL', refundScript, '1', `${key}${window}`, `${hits}`])
}
