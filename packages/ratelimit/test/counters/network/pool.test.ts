import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pool, type PooledConnection } from '../../../src/counters/network/pool.ts'

class Line implements PooledConnection {
  pending = 0
  isCollecting = false
  isOpen = false
  isAccepting = false
  closedBecause = ''

  start(isAwaited: boolean): void {
    this.isAccepting = isAwaited
  }

  close(reason: string): void {
    this.closedBecause = reason
  }

  open(): void {
    this.isOpen = true
    this.isAccepting = true
  }
}

const busy = 2_048

function openPool(size: number) {
  const lines: Line[] = []
  const pool = new Pool(
    () => {
      const line = new Line()
      lines.push(line)
      return line
    },
    { size, busyPending: busy },
  )
  pool.start()
  return { pool, lines }
}

test('one connection is used as long as it keeps up', () => {
  const { pool, lines } = openPool(3)
  assert.equal(pool.connection, lines[0])
  lines[0]?.open()
  for (let pending = 0; pending < busy; pending += 100) {
    Object.assign(lines[0] ?? {}, { pending })
    assert.equal(pool.connection, lines[0])
  }
  assert.equal(lines.length, 1)
})

test('another connection is opened when all are busy, one at a time, and used once it is established', () => {
  const { pool, lines } = openPool(3)
  const [first] = lines
  first?.open()
  Object.assign(first ?? {}, { pending: busy })
  for (let i = 0; i < 3; i++) assert.equal(pool.connection, first)
  assert.equal(lines.length, 2)
  const [, second] = lines
  second?.open()
  assert.equal(pool.connection, second)
  Object.assign(second ?? {}, { pending: busy + 1 })
  assert.equal(pool.connection, first)
  assert.equal(lines.length, 3)
  lines[2]?.open()
  Object.assign(lines[2] ?? {}, { pending: busy + 2 })
  for (let i = 0; i < 3; i++) assert.equal(pool.connection, first)
  assert.equal(lines.length, 3)
})

test('the commands of one write stay on one connection', () => {
  const { pool, lines } = openPool(2)
  const [first] = lines
  first?.open()
  Object.assign(first ?? {}, { pending: busy, isCollecting: true })
  assert.equal(pool.connection, first)
  assert.equal(lines.length, 1)
})

test('a lost connection is skipped while another one is established', () => {
  const { pool, lines } = openPool(2)
  const [first] = lines
  first?.open()
  Object.assign(first ?? {}, { pending: busy })
  assert.equal(pool.connection, first)
  const [, second] = lines
  second?.open()
  Object.assign(first ?? {}, { pending: 0, isOpen: false, isAccepting: false })
  assert.equal(pool.connection, second)
  assert.equal(pool.isOpen, true)
  Object.assign(second ?? {}, { isOpen: false, isAccepting: false })
  // A connection is needed to return the reason why commands are refused.
  assert.equal(pool.connection, first)
  assert.equal(pool.isOpen, false)
})

test('the pool is idle only if all connections are, and closes all of them', () => {
  const { pool, lines } = openPool(2)
  lines[0]?.open()
  Object.assign(lines[0] ?? {}, { pending: busy })
  assert.equal(pool.connection, lines[0])
  assert.equal(pool.isIdle, false)
  Object.assign(lines[0] ?? {}, { pending: 0 })
  assert.equal(pool.isIdle, true)
  pool.close('enough')
  assert.deepEqual(
    lines.map(({ closedBecause }) => closedBecause),
    ['enough', 'enough'],
  )
})
