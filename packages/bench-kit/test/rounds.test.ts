import assert from 'node:assert/strict'
import test from 'node:test'
import { startsServers, toRoundOrder } from '../src/rounds.ts'

test('every round contains each server once, in a different order', () => {
  const list = ['a', 'b', 'c']
  const orders = Array.from({ length: 6 }, (_, round) => toRoundOrder(list, round).join(''))
  for (const order of orders) assert.equal([...order].toSorted().join(''), 'abc')
  assert.ok(new Set(orders).size > 3)
})

test('servers are restarted as often as planned, at even intervals', () => {
  const startsOf = (rounds: number, starts: number) => {
    const plan = { rounds, starts, seconds: 1, warmupSeconds: 1 }
    return Array.from({ length: rounds }, (_, round) => round).filter((round) =>
      startsServers(round, plan),
    )
  }
  assert.deepEqual(startsOf(8, 2), [0, 4])
  assert.deepEqual(startsOf(10, 4), [0, 3, 5, 8])
  assert.deepEqual(startsOf(3, 1), [0])
  assert.deepEqual(startsOf(2, 5), [0, 1])
})
