// Counts in a few counters that are shared with other processes, and prints the returned counts.
import { parseRedisAddress } from '../../../../src/counters/redis/address.ts'
import { openRedisStore } from '../../../../src/counters/redis/redis-store.ts'
import { createLines, toIncrement } from './store.ts'

const [, , url = '', calls = '0', window = '0'] = process.argv
const address = parseRedisAddress({ type: 'single', socketType: 'tcp', url })
const store = openRedisStore({ address, log: createLines().log, commandTimeoutMs: 60_000 })
await store.ready

const keys = ['busy_', 'shared_', 'quiet_']
const seen = new Map<string, number[]>(keys.map((key) => [key, []]))
let left = Number(calls)
await new Promise<void>((resolve, reject) => {
  let open = 0
  const next = () => {
    if (left === 0) {
      if (open === 0) resolve()
      return
    }
    left--
    open++
    const key = keys[left % 7 < 5 ? 0 : (left % 7) - 4] ?? ''
    const increment = toIncrement(key, { window: Number(window) })
    store.add([increment], Number.POSITIVE_INFINITY, (error) => {
      open--
      if (error) reject(error)
      seen.get(key)?.push(increment.after)
      next()
    })
  }
  for (let i = 0; i < 50; i++) next()
})
await store[Symbol.asyncDispose]()
process.stdout.write(JSON.stringify(Object.fromEntries(seen)))
