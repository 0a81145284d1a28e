import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { AddressLimit } from '../../src/workers/address-limit.ts'

/** An accepted connection of that address that is not handed over yet. */
function openSocket(address: string | undefined): Socket {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: address })
  return socket
}

function openLimit(limit: number, counts: readonly Readonly<Record<string, number>>[]) {
  const workers = counts.map((each) => ({ countAddress: (address: string) => each[address] ?? 0 }))
  return new AddressLimit(limit, () => workers)
}

test('connections of an address count over all workers', () => {
  const limit = openLimit(3, [{ a: 1, b: 1 }, { a: 2 }])
  assert.equal(limit.takes(openSocket('a')), false)
  assert.equal(limit.takes(openSocket('b')), true)
})

test('a connection counts before a worker has it', () => {
  const limit = openLimit(2, [{ a: 0 }])
  const [first, second] = [openSocket('a'), openSocket('a')]
  assert.deepEqual([limit.takes(first), limit.takes(second)], [true, true])
  assert.equal(limit.takes(openSocket('a')), false)
  assert.equal(limit.takes(openSocket('b')), true)
  first.destroy()
  // Immediately, because its worker has counted it, although 'close' comes later.
  assert.equal(limit.takes(openSocket('a')), true)
  assert.equal(limit.takes(openSocket('a')), false)
})

test('without a limit, and without an address, every connection is accepted', () => {
  const none = openLimit(0, [{ a: 1_000 }])
  assert.equal(none.takes(openSocket('a')), true)
  const one = openLimit(1, [])
  assert.deepEqual(
    [one.takes(openSocket(undefined)), one.takes(openSocket(undefined))],
    [true, true],
  )
})
