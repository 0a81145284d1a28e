import type { StoreError } from '../counters/counter-store.ts'
import { addTallies, openTallies, sliceLength } from '../decide/count.ts'
import { readTallies, resetTallies, toIncrement } from '../decide/counter-access.ts'
import type { DecisionParts } from '../decide/decision.ts'
import type { Tally } from '../decide/tally.ts'
import { type LimitResult, type ResultSettings, toHeaders, toLimitResult } from './limit-result.ts'
import type { MatchedRequest } from './rules/matched-request.ts'
import type { BlockedUntil, Blocks } from './store/blocks.ts'
import type { GuardedStore } from './store/guarded-store.ts'

export interface OperationParts {
  readonly decision: DecisionParts
  readonly results: ResultSettings
  readonly blocks: Blocks
  /** Undefined for counters in memory. */
  readonly guard: GuardedStore | undefined
}

/** Called once; before the operation returns if the store answers synchronously. */
export type Done<Result> = (error: StoreError | undefined, result: Result | undefined) => void

/** An operation on the counters of the limits that apply to a request. */
export type Operation<Result> = (
  parts: OperationParts,
  matched: MatchedRequest,
  deadlineMs: number,
  done: Done<Result>,
) => void

/** Counts the hits. */
export const count: Operation<LimitResult> = (parts, matched, deadlineMs, done) => {
  const nowMs = parts.decision.now()
  const blocked = parts.blocks.find(matched.tallies, nowMs)
  if (blocked === undefined) change(parts, matched, nowMs, parts.blocks.isShared, deadlineMs, done)
  else refuseBlocked(parts, matched, blocked, deadlineMs, done)
}

/** Refunds the hits of the tallies, whether they are blocked or not. */
export const refund: Operation<LimitResult> = (parts, matched, deadlineMs, done) => {
  change(parts, matched, parts.decision.now(), false, deadlineMs, done)
}

function change(
  parts: OperationParts,
  matched: MatchedRequest,
  nowMs: number,
  looksUpBlocks: boolean,
  deadlineMs: number,
  done: Done<LimitResult>,
): void {
  const { decision, blocks, guard, results } = parts
  const { tallies } = matched
  const nowSeconds = Math.floor(nowMs / 1000)
  const toCount = openTallies(decision, tallies, nowMs, nowSeconds)
  if (toCount.length === 0) {
    done(undefined, toLimitResult(decision, results, matched, nowSeconds, false))
    return
  }
  // The in-memory store answers before it returns, so no closure is needed.
  if (guard === undefined && toCount.length <= sliceLength) {
    addTallies(decision, tallies, toCount, deadlineMs, keepFailure)
    if (failure === undefined) {
      done(undefined, toLimitResult(decision, results, matched, nowSeconds, false))
    } else {
      fail(parts, failure, done)
    }
    return
  }
  const counted = (error: StoreError | undefined) => {
    if (error !== undefined) {
      fail(parts, error, done)
      return
    }
    done(undefined, toCountedResult(parts, matched, nowSeconds))
  }
  if (!looksUpBlocks) {
    addTallies(decision, tallies, toCount, deadlineMs, counted)
    return
  }
  // Both are sent in one write. Counting the hits of a blocked request does no harm.
  const both = afterBoth((error) => {
    const blocked = error === undefined ? blocks.find(tallies, nowMs) : undefined
    if (blocked === undefined) counted(error)
    else refuseBlocked(parts, matched, blocked, deadlineMs, done)
  })
  blocks.lookUp(toCount, deadlineMs, both)
  addTallies(decision, tallies, toCount, deadlineMs, both)
}

/** The error of the latest call to the in-memory store. */
let failure: StoreError | undefined

function keepFailure(error: StoreError | undefined): void {
  failure = error
}

/** Returns the state of the limits, and whether the hits would be allowed. Counts nothing. */
export const peek: Operation<LimitResult> = (parts, matched, deadlineMs, done) => {
  const { blocks } = parts
  const limited = findLimited(matched)
  const finish = (error: StoreError | undefined) => {
    const blocked = blocks.find(matched.tallies, parts.decision.now())
    if (error !== undefined) fail(parts, error, done)
    else if (blocked !== undefined) refuseBlocked(parts, matched, blocked, deadlineMs, done, true)
    else read(parts, matched, deadlineMs, done)
  }
  if (blocks.isShared && limited.length > 0) blocks.lookUp(limited, deadlineMs, finish)
  else finish(undefined)
}

/** Counts hits even beyond the limit. `count` would not add them to a sliding window. */
export const penalize: Operation<LimitResult> = (parts, matched, deadlineMs, done) => {
  const { decision } = parts
  const nowMs = decision.now()
  const nowSeconds = Math.floor(nowMs / 1000)
  openTallies(decision, matched.tallies, nowMs, nowSeconds)
  const limited = findLimited(matched)
  const increments = limited.map((tally) => toIncrement(tally, tally.window, tally.charge))
  decision.store.add(increments, deadlineMs, (error) => {
    if (error !== undefined) {
      fail(parts, error, done)
      return
    }
    for (const [index, { after, previous }] of increments.entries()) {
      const tally = limited[index]
      if (tally === undefined) continue
      tally.after = after
      tally.previous = previous
    }
    done(undefined, toCountedResult(parts, matched, nowSeconds))
  })
}

/** The result after the store, or its fallback, has counted. Must be called in the callback of the store. */
function toCountedResult(
  { decision, guard, results }: OperationParts,
  matched: MatchedRequest,
  nowSeconds: number,
): LimitResult {
  const isFallback = guard?.isFallback === true
  // A count of the fallback must not enter the local cache, which would refuse requests after the outage.
  const parts = isFallback ? { ...decision, localCache: undefined } : decision
  return toLimitResult(parts, results, matched, nowSeconds, isFallback)
}

/** Sets the counters to 0 and removes blocks. */
export const reset: Operation<true> = (parts, matched, deadlineMs, done) => {
  const { decision, blocks } = parts
  const limited = findLimited(matched)
  const both = afterBoth((error) => {
    if (error === undefined) done(undefined, true)
    else fail(parts, error, done)
  })
  blocks.unblock(limited, both)
  resetTallies(decision, limited, deadlineMs, both)
}

/** Refuses requests until this time, whatever the counters are. */
export function block(untilMs: number): Operation<true> {
  return (parts, matched, _deadlineMs, done) => {
    const { decision, blocks } = parts
    blocks.block(findLimited(matched), untilMs, decision.now(), (error) => {
      if (error === undefined) done(undefined, true)
      else fail(parts, error, done)
    })
  }
}

function findLimited({ tallies }: MatchedRequest): Tally[] {
  return tallies.filter((tally) => tally !== undefined).filter(({ isUnlimited }) => !isUnlimited)
}

function read(
  { decision, guard, results }: OperationParts,
  matched: MatchedRequest,
  deadlineMs: number,
  done: Done<LimitResult>,
): void {
  readTallies(decision, matched.tallies, deadlineMs, (error, result) => {
    if (result === undefined) {
      decision.statistics.storeErrors.value += 1
      done(error, undefined)
      return
    }
    const { tallies, nowSeconds } = result
    const uncached = { ...decision, localCache: undefined }
    const isFallback = guard?.isFallback === true
    const copy = { ...matched, tallies }
    done(undefined, toLimitResult(uncached, results, copy, nowSeconds, isFallback, true))
  })
}

/**
 * Creates the result if some counters are blocked: nothing is counted, and the other counters are only read.
 */
function refuseBlocked(
  parts: OperationParts,
  matched: MatchedRequest,
  blocked: BlockedUntil,
  deadlineMs: number,
  done: Done<LimitResult>,
  isPeek = false,
): void {
  const { decision, results } = parts
  const nowMs = decision.now()
  for (const { counters, charge } of isPeek ? [] : blocked.keys()) {
    counters.totalHits += charge
    counters.overLimit += charge
  }
  const finish: Done<LimitResult> = (error, result) => {
    if (result === undefined) {
      done(error, undefined)
      return
    }
    const statuses = result.statuses.map((status, index) => {
      const tally = matched.tallies[index]
      const untilMs = tally && blocked.get(tally)
      if (untilMs === undefined) return status
      const resetSeconds = Math.max(1, Math.ceil((untilMs - nowMs) / 1000))
      return { ...status, isOver: true, remaining: 0, resetSeconds }
    })
    const over = statuses.filter(({ isOver }) => isOver)
    const last = over.at(-1)
    done(undefined, {
      ...result,
      isAllowed: decision.settings.isShadowMode,
      statuses,
      headers: last === undefined ? [] : toHeaders(last, results.headerNames),
      retryAfterSeconds: decision.settings.isShadowMode
        ? undefined
        : Math.max(...over.map(({ resetSeconds }) => resetSeconds ?? 1)),
    })
  }
  read(parts, matched, deadlineMs, finish)
}

function fail(parts: OperationParts, error: StoreError, done: Done<never>): void {
  parts.decision.statistics.storeErrors.value += 1
  done(error, undefined)
}

/** Returns a callback for two calls. It calls `done` after the second one, with the first error, if any. */
function afterBoth(
  done: (error: StoreError | undefined) => void,
): (error: StoreError | undefined) => void {
  let calls = 0
  let failure: StoreError | undefined
  return (error) => {
    calls += 1
    failure ??= error
    if (calls === 2) done(failure)
  }
}
