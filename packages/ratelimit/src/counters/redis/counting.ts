import { KeyBytes } from '../../structures/key-bytes.ts'
import {
  type EncodedIncrement,
  highestCount,
  type Increment,
  StoreError,
} from '../counter-store.ts'
import { answer, toSum } from './connection/answer.ts'
import type { Call } from './connection/call.ts'
import type { Connection, Replies } from './connection/connection.ts'
import { hasLostItsRole, isForbidden, isOverflow } from './connection/reply-errors.ts'
import { expected } from './connection/reply-queue.ts'
import { type Reply, ReplyError } from './connection/resp-reader.ts'
import { type Cause, isUsable, read, refund, sendAsking, startScript } from './connection/send.ts'
import type { KnownCounters } from './known-counters.ts'
import { refundScript, type Script, slideScript, spareScript } from './scripts.ts'
import type { RedisSettings } from './settings.ts'
import type { Topology } from './topology/topology.ts'

export interface CountingSettings {
  readonly topology: () => Topology
  readonly known: KnownCounters
  readonly expirationJitterMaxSeconds: number
  /** Completes an `addSparing` call that cannot be one atomic step. */
  readonly addInSteps: (call: Call) => void
  readonly log: RedisSettings['log']
}

/** The number of arguments per counter besides its key. */
const [valuesOfSlide, valuesOfSpare] = [7, 8] as const

/**
 * The commands of a count and what their replies mean.
 *
 * A counter must always have a TTL, even if this process dies between two commands. So a counter that this
 * process does not know is created with its TTL (`SET key 0 EX ttl NX`) before it is incremented
 * (`INCRBY`), in the same write. A known counter is only incremented. If another process created the
 * counter before the SET, or a known counter has disappeared, `EXPIRE` follows the reply.
 *
 * Sliding counters and `addSparing` use scripts, because they check before they add.
 */
export class Counting implements Replies {
  readonly #settings: CountingSettings
  readonly #bytes = new KeyBytes()
  readonly #jitterSeconds: number
  #hasWarned = false
  #maySpare = true

  constructor(settings: CountingSettings) {
    this.#settings = settings
    this.#jitterSeconds = Math.trunc(settings.expirationJitterMaxSeconds)
  }

  /** False after a server has refused the script of `sendSparing`. */
  get maySpare(): boolean {
    return this.#maySpare
  }

  /** Writes the command of one increment. The call fails when it cannot be sent. */
  send(
    connection: Connection | undefined,
    call: Call,
    increment: Increment,
    cause: Cause = '',
  ): void {
    if (!isUsable(connection, call)) return
    if (call.isRead) read(connection, call, increment, cause)
    else if (increment.overlapMs > 0) this.#slide(connection, call, increment, cause)
    else if (increment.hits >= 0) this.#count(connection, call, increment, cause)
    else refund(connection, call, increment, cause)
    connection.flushSoon()
  }

  /** Writes one command for all increments of an `addSparing`, which must be on one server. */
  sendSparing(connection: Connection | undefined, call: Call, cause: Cause = ''): void {
    const { increments } = call
    const [first] = increments
    if (first === undefined || !isUsable(connection, call)) return
    const { length } = increments
    startScript(connection, spareScript, length, valuesOfSpare * length, cause)
    for (const increment of increments) connection.commands.addName(increment)
    for (const increment of increments) {
      connection.commands.addValues(increment, this.#ttlSeconds(increment))
      connection.commands.addNumber(increment.isStrict ? 1 : 0)
    }
    connection.expect(expected.counts, call, first)
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
    } else if (kind === expected.counts) {
      const counts = Array.isArray(reply) ? reply : []
      for (const [i, each] of call.increments.entries()) {
        answer(from, call, each, counts[2 * i], counts[2 * i + 1])
      }
    } else if (Array.isArray(reply)) {
      const [count, previous] = reply
      if (!call.isRead) answer(from, call, increment, count, previous)
      else answer(from, call, increment, toSum(increment, count, previous), previous)
    } else if (kind !== expected.nothing) {
      answer(from, call, increment, reply, undefined)
    }
  }

  #count(connection: Connection, call: Call, increment: EncodedIncrement, cause: Cause): void {
    const { commands } = connection
    const { window, hits } = increment
    const encoded = increment.encodedKey ?? this.#bytes.set(increment.key)
    const isKnown = this.#settings.known.recall(encoded, increment)
    const key = encoded.isAscii ? encoded : increment.key
    // After a redirection, what is known about the old node does not apply to the new one.
    if (isKnown && cause === '') {
      commands.count(key, window, hits)
      connection.expect(expected.count, call, increment)
      // Without jitter the TTL ends with the window, so every increment must renew it.
      if (this.#jitterSeconds <= 1) this.#expire(connection, call, increment)
      return
    }
    if (cause === 'ASK') sendAsking(connection)
    commands.createCounter(key, window, this.#ttlSeconds(increment))
    // A counter that was moved to the node that imports its slot has kept its TTL.
    connection.expect(cause === 'ASK' ? expected.nothing : expected.creation, call, increment)
    if (cause === 'ASK') sendAsking(connection)
    commands.count(key, window, hits)
    connection.expect(expected.firstCount, call, increment)
  }

  #slide(connection: Connection, call: Call, increment: Increment, cause: Cause): void {
    startScript(connection, slideScript, 1, valuesOfSlide, cause)
    connection.commands.addName(increment)
    connection.commands.addValues(increment, this.#ttlSeconds(increment))
    connection.expect(expected.value, call, increment)
  }

  #expire(connection: Connection, call: Call, increment: EncodedIncrement): void {
    if (!connection.isAccepting) return
    const { encodedKey, window } = increment
    // A text would have to be created for each counter, and encoded again.
    const key = encodedKey?.isAscii === true ? encodedKey : increment.key
    connection.commands.expire(key, window, this.#ttlSeconds(increment))
    connection.expect(expected.nothing, call, increment)
    connection.flushSoon()
  }

  /**
   * The unit, or two units for a sliding counter, plus a random part, so that the counters of a window do
   * not all expire at the same moment. The random part is at least 1, so that a late increment still finds
   * the counter of its window.
   */
  #ttlSeconds({ unitSeconds, overlapMs }: Increment): number {
    const neededSeconds = overlapMs > 0 ? 2 * unitSeconds : unitSeconds
    if (this.#jitterSeconds <= 1) return neededSeconds
    return neededSeconds + 1 + Math.floor(Math.random() * (this.#jitterSeconds - 1))
  }

  #onError(
    from: Connection,
    kind: number,
    call: Call,
    increment: Increment,
    error: ReplyError,
  ): void {
    const { code } = error
    if (hasLostItsRole(error)) {
      call.fail(new StoreError(`${from.name}: ${error.message}`))
      from.drop(error.message)
    } else if (kind === expected.creation) {
      // The INCRBY decides: either it fails with the same error, or the user may not SET (with an ACL for
      // the commands of envoyproxy/ratelimit) and EXPIRE sets the TTL.
      from.reinterpret(expected.foreignCount)
    } else if (kind === expected.nothing) {
      this.#warnOnce(`${from.name}: a counter may have no TTL, EXPIRE failed: ${error.message}`)
    } else if (isOverflow(error) && kind !== expected.counts) {
      call.answer(increment, highestCount)
    } else if (code === 'NOSCRIPT') {
      if (!call.isDone) this.#resend(from, kind, call, increment, code)
    } else if (code === 'MOVED' || code === 'ASK') {
      this.#redirect(from, kind, call, increment, error, code)
    } else if (kind === expected.counts && !call.isDone) {
      this.#onSparingRefused(from, call, error)
    } else {
      const needs = isForbidden(error) && scriptOf(call, increment)?.needs
      call.fail(new StoreError(`${from.name}: ${error.message}${needs ? ` (${needs})` : ''}`))
    }
  }

  #redirect(
    from: Connection,
    kind: number,
    call: Call,
    increment: Increment,
    error: ReplyError,
    cause: Cause,
  ): void {
    const to = this.#settings.topology().redirect(error)
    // The caller no longer waits, and whether the hits were counted is unknown anyway.
    if (call.isDone) return
    if (to === undefined) {
      call.fail(
        new StoreError(`${from.name}: ${error.message} (a Redis Cluster needs the type cluster)`),
      )
    } else if (call.redirectionsLeft-- <= 0) {
      call.fail(new StoreError(`${from.name}: too many redirections, the last: ${error.message}`))
    } else {
      this.#resend(to, kind, call, increment, cause)
    }
  }

  #resend(to: Connection, kind: number, call: Call, increment: Increment, cause: Cause): void {
    if (kind === expected.counts) this.sendSparing(to, call, cause)
    else this.send(to, call, increment, cause)
  }

  /** Nothing was changed: the counters are on several servers, or the user may not run scripts. */
  #onSparingRefused(from: Connection, call: Call, error: ReplyError): void {
    const isPermanent = isForbidden(error) || error.code === 'CROSSSLOT'
    if (isPermanent && this.#maySpare) {
      this.#maySpare = false
      this.#settings.log.warning(
        `${from.name}: checking and adding is not atomic, so other limits may count refused requests: ` +
          `${error.message} (${spareScript.needs})`,
      )
    }
    if (isPermanent || error.code === 'TRYAGAIN') this.#settings.addInSteps(call)
    else call.fail(new StoreError(`${from.name}: ${error.message}`))
  }

  #warnOnce(message: string): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#settings.log.warning(message)
  }
}

function scriptOf(call: Call, { overlapMs, hits }: Increment): Script | undefined {
  if (call.isRead) return undefined
  return overlapMs > 0 ? slideScript : hits < 0 ? refundScript : undefined
}
