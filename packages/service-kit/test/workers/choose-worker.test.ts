import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Candidate, chooseWorker } from '../../src/workers/choose-worker.ts'

class Worker implements Candidate {
  readonly counts = { grpc: 0, http: 0 }
  lastTurn = 0

  countConnections(listener?: 'grpc' | 'http'): number {
    return listener ? this.counts[listener] : this.counts.grpc + this.counts.http
  }
}

const listeners = fc.constantFrom<'grpc' | 'http'>('grpc', 'http')

test('the numbers of connections of a listener never differ by more than one between workers', () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 8 }),
    fc.array(listeners, { maxLength: 60 }),
    (count, arrivals) => {
      const workers = Array.from({ length: count }, () => new Worker())
      for (const [turn, listener] of arrivals.entries()) {
        const chosen = chooseWorker(workers, listener)
        assert.ok(chosen)
        chosen.counts[listener] += 1
        chosen.lastTurn = turn + 1
        for (const each of ['grpc', 'http'] as const) {
          const counts = workers.map((worker) => worker.counts[each])
          assert.ok(Math.max(...counts) - Math.min(...counts) <= 1)
        }
      }
    },
  )
  fc.assert(property)
})

test('new connections go to the workers whose connections were closed', () => {
  const workers = [3, 0, 2].map((grpc, at) => {
    const worker = new Worker()
    worker.counts.grpc = grpc
    worker.lastTurn = at
    return worker
  })
  for (let count = 0; count < 4; count += 1) {
    const chosen = chooseWorker(workers, 'grpc')
    if (chosen) chosen.counts.grpc += 1
  }
  assert.deepEqual(
    workers.map(({ counts }) => counts.grpc),
    [3, 3, 3],
  )
})

test('among workers with equally many of the listener, the one with the fewest in total is chosen', () => {
  const [first, second] = [new Worker(), new Worker()]
  first.counts.http = 1
  second.lastTurn = 1
  assert.equal(chooseWorker([first, second], 'grpc'), second)
  assert.equal(chooseWorker([second, first], 'grpc'), second)
})

test('among equals the one that has waited longest is chosen, and without workers none', () => {
  const [first, second] = [new Worker(), new Worker()]
  first.lastTurn = 7
  second.lastTurn = 3
  assert.equal(chooseWorker([first, second], 'http'), second)
  assert.equal(chooseWorker([], 'http'), undefined)
})
