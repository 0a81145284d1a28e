/**
 * @legs safety, endurance
 * @isolated measures the heap of its process
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { enduranceOr } from '@portcullis/test-servers/endurance'
import { measureHeapBytes } from '../../fuzz/heap.ts'
import { toInteger } from '../../fuzz/hpack-encoder.ts'
import { errorCode, flag, frameType, PREFACE } from '../../src/http2/frames.ts'
import { openEchoServer, until } from '../support/echo-server.ts'
import {
  frame,
  headerBlock,
  RawClient,
  requestFields,
  settings,
  uint32,
  unaryCall,
} from '../support/raw-client.ts'
import { repeat, SAY, underAttack, WAIT } from './under-attack.ts'

/** The stages in which a connection is dropped. */
const beginnings: readonly Uint8Array[] = [
  Buffer.alloc(0),
  PREFACE.subarray(0, 10),
  PREFACE,
  Buffer.concat([PREFACE, settings()]),
  Buffer.concat([PREFACE, settings(), unaryCall(1, SAY, 'x')]),
  Buffer.concat([PREFACE, settings(), unaryCall(1, WAIT, 'x')]),
  Buffer.concat([PREFACE, settings(), unaryCall(1, SAY, 'x').subarray(0, 60)]),
  Buffer.from('GET / HTTP/1.1\r\n\r\n'),
]

/** Opens a connection, sends something, and drops it with a reset or regularly. */
async function openAndDrop(port: number, number: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(beginnings[number % beginnings.length] ?? '')
  if (number % 3 === 0) socket.resetAndDestroy()
  else socket.destroy()
  await once(socket, 'close')
}

async function openAndDropMany(port: number, count: number): Promise<void> {
  let next = 0
  const one = async (): Promise<void> => {
    while (next < count) await openAndDrop(port, next++)
  }
  await Promise.all(Array.from({ length: 100 }, one))
}

const droppedCount = enduranceOr(8000, 1600)

test(`${droppedCount} connections, opened and dropped, leave nothing behind`, async (t) => {
  await underAttack(t, {}, async ({ port, server, waiting }) => {
    await openAndDropMany(port, droppedCount / 4)
    await until(() => server.connections === 1)
    waiting.length = 0
    const before = await measureHeapBytes()
    await openAndDropMany(port, droppedCount)
    await until(() => server.connections === 1)
    assert.ok(waiting.every((call) => !call.isOpen))
    waiting.length = 0
    const growth = (await measureHeapBytes()) - before
    // A leaked connection takes far more than this.
    assert.ok(growth < droppedCount * 1500, `${growth} bytes more`)
  })
})

test('no more connections than the limit are open at a time, and places become free', async (t) => {
  const { port, server } = await openEchoServer(t, { limits: { connections: 10 } })
  const clients = await Promise.all(
    Array.from({ length: 40 }, async () => await RawClient.connect(port)),
  )
  await until(() => clients.filter(({ isEnded }) => isEnded).length === 30)
  assert.equal(server.connections, 10)
  for (const client of clients) client.socket.destroy()
  await until(() => server.connections === 0)
  using late = await RawClient.open(port)
  late.send(unaryCall(1, SAY, 'x'))
  assert.equal((await late.headers(1))[':status'], '200')
})

test('the last stream identifiers can be used up', async (t) => {
  await underAttack(t, {}, async ({ port }) => {
    using client = await RawClient.open(port)
    const last = 2 ** 31 - 1
    client.send(unaryCall(last - 2, SAY, 'x'), unaryCall(last, SAY, 'x'))
    for (const id of [last - 2, last]) {
      assert.equal((await client.headers(id))[':status'], '200')
      assert.equal((await client.headers(id))['grpc-status'], '0')
    }
    // No identifier is left, so the client must open another connection. Old streams stay closed.
    client.send(unaryCall(last - 2, SAY, 'x'))
    const { code, lastId } = await client.goaway()
    assert.equal(code, errorCode.STREAM_CLOSED)
    assert.equal(lastId, last)
    await client.ended()
  })
})

test('a frame that is too long is refused when its header arrives, not after its payload', async (t) => {
  await underAttack(t, {}, async ({ port }) => {
    for (const length of [16_385, 2 ** 20, 2 ** 24 - 1]) {
      for (const type of [frameType.DATA, frameType.HEADERS, frameType.SETTINGS, 0x77]) {
        using attacker = await RawClient.open(port)
        const header = Buffer.alloc(9)
        header.writeUIntBE(length, 0, 3)
        header.writeUInt8(type, 3)
        attacker.send(header)
        assert.equal((await attacker.goaway()).code, errorCode.FRAME_SIZE_ERROR)
        await attacker.ended()
      }
    }
  })
})

test('calls beyond the limit are refused indefinitely, at no cost', async (t) => {
  const limits = {
    concurrentStreams: 100,
    refusedStreamsPerSecond: 5000,
    smallDataPerSecond: 5000,
  }
  await underAttack(t, limits, async ({ port, waiting }) => {
    using attacker = await RawClient.open(port)
    attacker.send(...repeat(5000, (n) => unaryCall(2 * n + 1, WAIT, 'x')))
    const { payload } = await attacker.nextOf(frameType.RST_STREAM, 9999)
    assert.equal(payload.readUInt32BE(), errorCode.REFUSED_STREAM)
    assert.equal(waiting.length, 100)
  })
})

test('header lists that are too long are refused one by one, and leave no memory behind', async (t) => {
  const limits = { headerListBytes: 16_384, largeHeadersPerSecond: 1000 }
  await underAttack(t, limits, async ({ port }) => {
    const fields = headerBlock(requestFields(SAY))
    const end = flag.END_HEADERS | flag.END_STREAM
    // An entry of nearly the whole table, referenced again: 4 KB that stand for 40 KB.
    const entry = Buffer.from(`\x40\x01x\x7f\xa1\x1e${'v'.repeat(4000)}`, 'latin1')
    const bomb = Buffer.concat([fields, entry, Buffer.alloc(9, 0x80 | 62)])
    // 5 bits for each letter: 10.5 KB that stand for 16.8 KB, slightly more than allowed.
    const zip = Buffer.alloc(10_500, Buffer.from('0842108421', 'hex'))
    const literal = [Buffer.from('\x00\x01x', 'latin1'), toInteger(0x80, 7, zip.length), zip]
    const huffman = Buffer.concat([fields, ...literal])
    const before = await measureHeapBytes()
    for (const block of [bomb, huffman]) {
      using attacker = await RawClient.open(port)
      attacker.send(...repeat(300, (n) => frame(frameType.HEADERS, end, 2 * n + 1, block)))
      const answer = await attacker.headers(599)
      assert.equal(answer[':status'], '431')
      assert.equal(answer['grpc-status'], '8')
      attacker.send(unaryCall(601, SAY, 'still here'))
      assert.equal((await attacker.headers(601))[':status'], '200')
    }
    const growth = (await measureHeapBytes()) - before
    assert.ok(growth < 24 * 2 ** 20, `${growth} bytes more`)
  })
})

test('an HPACK bomb ends its connection before it is decoded', async (t) => {
  await underAttack(t, {}, async ({ port }) => {
    using attacker = await RawClient.open(port)
    const entry = Buffer.from(`\x40\x01x\x7f\xa1\x1e${'v'.repeat(4000)}`, 'latin1')
    const bomb = [headerBlock(requestFields(SAY)), entry, Buffer.alloc(12_000, 0x80 | 62)]
    const end = flag.END_HEADERS | flag.END_STREAM
    attacker.send(frame(frameType.HEADERS, end, 1, Buffer.concat(bomb)))
    const { code, reason } = await attacker.goaway()
    assert.equal(code, errorCode.ENHANCE_YOUR_CALM)
    assert.match(reason, /headerListBytes/)
    await attacker.ended()
  })
})

test('one address has no more connections than its limit, and closed ones can be replaced', async (t) => {
  const counts: number[] = []
  const { port, server } = await openEchoServer(t, {
    limits: { connectionsPerAddress: 3 },
    onAddress: (_address, count) => counts.push(count),
  })
  const clients = await Promise.all(
    Array.from({ length: 10 }, async () => await RawClient.connect(port)),
  )
  await until(() => clients.filter(({ isEnded }) => isEnded).length === 7)
  assert.equal(server.connections, 3)
  for (const client of clients) client.socket.destroy()
  await until(() => server.connections === 0)
  assert.deepEqual(counts, [1, 2, 3, 2, 1, 0])
  using late = await RawClient.open(port)
  late.send(unaryCall(1, SAY, 'x'))
  assert.equal((await late.headers(1))[':status'], '200')
})

test('a connection is removed from the count of its address before it is removed from the total count', async (t) => {
  const events: string[] = []
  const { port, server } = await openEchoServer(t, {
    limits: { connectionsPerAddress: 3 },
    onAddress: (_address, count) => events.push(`address ${count}`),
    onConnections: (count) => events.push(`all ${count}`),
  })
  const client = await RawClient.open(port)
  await until(() => server.connections === 1)
  events.length = 0
  client.socket.destroy()
  await until(() => server.connections === 0)
  assert.deepEqual(events.slice(0, 2), ['address 0', 'all 0'])
})

const floodCount = enduranceOr(60, 24)

test('floods, one after the other, leave no memory behind', async (t) => {
  await underAttack(t, {}, async ({ port, server }) => {
    const flood = async (): Promise<void> => {
      using attacker = await RawClient.open(port)
      attacker.send(
        ...repeat(600, (n) =>
          Buffer.concat([
            unaryCall(2 * n + 1, SAY, 'x'.repeat(1000)),
            unaryCall(2 * n + 2001, WAIT, 'x'),
            frame(frameType.RST_STREAM, 0, 2 * n + 2001, uint32(errorCode.CANCEL)),
          ]),
        ),
      )
      await attacker.ended()
    }
    for (let n = 0; n < floodCount / 3; n++) await flood()
    await until(() => server.connections === 1)
    const before = await measureHeapBytes()
    for (let n = 0; n < floodCount; n++) await flood()
    await until(() => server.connections === 1)
    const growth = (await measureHeapBytes()) - before
    // Each flood sends 600 kB; it must leave behind far less.
    assert.ok(growth < floodCount * 200_000, `${growth} bytes more`)
  })
})
