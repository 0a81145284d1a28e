import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Counted,
  type CounterStore,
  type Increment,
  StoreError,
} from '../../src/counters/counter-store.ts'
import { encodeRequest } from '../../src/protocol/encode.ts'
import type { RateLimitResponse } from '../../src/protocol/message.ts'
import { descriptor, openDecider, requestFor } from '../support/decider.ts'

interface PendingCall {
  readonly increments: readonly Increment[]
  readonly counted: Counted
}

/** A store whose calls the test answers. */
function createManualStore() {
  const calls: PendingCall[] = []
  const add: CounterStore['add'] = (increments, _deadlineMs, counted) => {
    calls.push({ increments, counted })
  }
  const store: CounterStore = {
    add,
    addSparing: add,
    read: add,
    async [Symbol.asyncDispose]() {},
  }
  const answer = (call: PendingCall, after: number) => {
    for (const increment of call.increments) increment.after = after
    call.counted(undefined)
  }
  return { store, calls, answer }
}

const yaml = `
domain: d
descriptors:
  - key: a
    rate_limit: { unit: minute, requests_per_unit: 10 }
  - key: b
    rate_limit: { unit: hour, requests_per_unit: 20 }
`

function toMessage(...keys: readonly string[]): Buffer {
  const { buffer, length } = encodeRequest(requestFor('d', ...keys.map((key) => descriptor(key))))
  return Buffer.from(buffer.subarray(0, length))
}

const remaining = ({ statuses }: RateLimitResponse) =>
  statuses.map(({ limitRemaining }) => limitRemaining)

test('calls of cached requests that wait at the same time do not share tallies', async (t) => {
  const { store, calls, answer } = createManualStore()
  const decider = openDecider(t, yaml, { store })
  const [first, second] = [toMessage('a=1', 'b=1'), toMessage('b=2', 'a=2', 'a=3')]
  for (const message of [first, first, first, second, second, second]) {
    const left = decider.decideEncoded(message).then(remaining)
    answer(calls.pop() ?? assert.fail('the store was not called'), 1)
    assert.deepEqual(await left, message === first ? [9, 19] : [19, 9, 9])
  }
  const waiting = [first, second, first].map((message) =>
    decider.decideEncoded(message).then(remaining),
  )
  const increments = calls.flatMap((call) => call.increments)
  assert.equal(new Set(increments).size, 7)
  assert.deepEqual(
    increments.map(({ key }) => key),
    ['d_a_1_60s_', 'd_b_1_3600s_', 'd_b_2_3600s_', 'd_a_2_60s_', 'd_a_3_60s_'].concat([
      'd_a_1_60s_',
      'd_b_1_3600s_',
    ]),
  )
  const left: number[][] = []
  for (const [i, call] of calls.splice(0).reverse().entries()) {
    answer(call, i + 2)
    left.push((await waiting[2 - i]) ?? [])
  }
  assert.deepEqual(left, [
    [8, 18],
    [17, 7, 7],
    [6, 16],
  ])
})

test('the tallies of a failed call are not used again, because the store may still change them', async (t) => {
  const { store, calls, answer } = createManualStore()
  const decider = openDecider(t, yaml, { store })
  const message = toMessage('a=1')
  for (let i = 0; i < 3; i += 1) {
    const left = decider.decideEncoded(message)
    answer(calls.pop() ?? assert.fail('the store was not called'), 1)
    await left
  }
  const failed = decider.decideEncoded(message)
  const late = calls.pop() ?? assert.fail('the store was not called')
  late.counted(new StoreError('too late'))
  await assert.rejects(failed, /too late/)
  const next = decider.decideEncoded(message).then(remaining)
  const call = calls.pop() ?? assert.fail('the store was not called')
  assert.notEqual(call.increments[0], late.increments[0])
  for (const increment of late.increments) increment.after = 10
  answer(call, 2)
  assert.deepEqual(await next, [8])
})
