import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureInTurn } from '../turns.ts'

test('each subject is measured in every round, and compared with the first of the same round', async () => {
  // The machine is ten times slower in the second round.
  const slowness = [1, 10, 1]
  const order: string[] = []
  const toSubject = (name: string, microseconds: number) => {
    let round = 0
    return {
      name,
      async measure() {
        order.push(name)
        return microseconds * (slowness[round++] ?? 1)
      },
    }
  }
  const progress = { show: () => undefined, end: () => undefined }
  const subjects = [toSubject('ours', 2), toSubject('peer', 5)]
  const costs = await measureInTurn(subjects, slowness.length, progress)
  assert.deepEqual(costs, [
    { name: 'ours', microseconds: 2, ratio: 1 },
    { name: 'peer', microseconds: 5, ratio: 2.5 },
  ])
  assert.equal(order.filter((name) => name === 'peer').length, 3)
})
