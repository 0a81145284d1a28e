// Counts new and known counters of every kind as fast as possible until it is killed. Prints a line when it
// starts.
import { parseRedisAddress } from '../../../../src/counters/redis/address.ts'
import { openRedisStore } from '../../../../src/counters/redis/redis-store.ts'
import { createLines, toIncrement } from './store.ts'

const url = process.argv[2] ?? ''
const address = parseRedisAddress({ type: 'single', socketType: 'tcp', url })
const store = openRedisStore({ address, log: createLines().log })
await store.ready
process.stdout.write('counting\n')

let made = 0
function next(): void {
  made++
  const key = made % 3 === 0 ? `${process.pid}-new-${made}_` : `known-${made % 50}_`
  const increments = [toIncrement(key, { overlapMs: made % 5 === 0 ? 1 : 0 })]
  if (made % 7 > 0) {
    store.add(increments, Number.POSITIVE_INFINITY, next)
  } else {
    const other = toIncrement(`${key}other_`, { overlapMs: made % 2 })
    store.addSparing([...increments, other], Number.POSITIVE_INFINITY, next)
  }
}
for (let i = 0; i < 64; i++) next()
