import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type Decided, OverloadError, ServiceError } from '../../src/decide/decision.ts'
import { LongRequests, type Work } from '../../src/decide/long-requests.ts'
import { descriptor, openDecider, requestFor } from '../support/decider.ts'

const never = Number.POSITIVE_INFINITY

function createExample() {
  const requests = new LongRequests()
  /** The callbacks of the requests that were begun, in this order. */
  const begun: Decided[] = []
  const work: Work = function* (decided) {
    begun.push(decided)
    yield
  }
  const errors: (Error | undefined)[] = []
  const add = (bytes: number, deadlineMs = never) =>
    requests.add(bytes, deadlineMs, (error) => errors.push(error), work)
  return { add, begun, errors }
}

test('one request is decided at a time, and a thousand others may wait', async () => {
  const { add, begun, errors } = createExample()
  for (let count = 0; count < 1_001; count += 1) add(1)
  assert.equal(errors.length, 0)
  add(1)
  assert.ok(errors[0] instanceof OverloadError)
  await turn()
  assert.equal(begun.length, 1)
  begun[0]?.(undefined, undefined)
  add(1)
  assert.equal(errors.length, 2, 'the end of a request makes room for another')
  await turn()
  assert.equal(begun.length, 2)
})

test('requests that wait take bounded memory, which the next one to be decided releases', async () => {
  const { add, begun, errors } = createExample()
  const mebibyte = 2 ** 20
  add(60 * mebibyte)
  for (let count = 0; count < 64; count += 1) add(mebibyte)
  assert.equal(errors.length, 0)
  add(1)
  assert.ok(errors[0] instanceof OverloadError)
  await turn()
  begun[0]?.(undefined, undefined)
  add(mebibyte)
  assert.equal(errors.length, 2)
  add(1)
  assert.ok(errors[2] instanceof OverloadError)
})

test('a request whose deadline has passed when its turn comes is not decided', async () => {
  const { add, begun, errors } = createExample()
  add(1)
  add(1, performance.now() - 1)
  add(1)
  await turn()
  begun[0]?.(undefined, undefined)
  await turn()
  await turn()
  assert.ok(errors[1] instanceof ServiceError)
  assert.match(errors[1].message, /deadline/)
  assert.equal(begun.length, 2)
})

test('decoded requests that wait are counted with the length of their values', async (t) => {
  const decider = openDecider(t, 'domain: d\ndescriptors: [{ key: k }]\n')
  const value = 'x'.repeat(2 ** 20)
  const request = requestFor('d', ...Array.from({ length: 65 }, () => descriptor(`k=${value}`)))
  // It takes 65 MiB.
  await assert.rejects(decider.decide(request), OverloadError)
  const short = requestFor('d', ...Array.from({ length: 65 }, () => descriptor('k=v')))
  assert.equal((await decider.decide(short)).statuses.length, 65)
})
