/**
 * @legs safety
 * @isolated measures the memory of its process
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { errorCode, flag, frameType, PREFACE, settingId } from '../../src/http2/frames.ts'
import { until } from '../support/echo-server.ts'
import {
  frame,
  grpcMessage,
  headerBlock,
  RawClient,
  requestFields,
  settings,
  uint32,
  unaryCall,
} from '../support/raw-client.ts'
import { repeat, SAY, underAttack, WAIT } from './under-attack.ts'

const idOf = (index: number): number => 2 * index + 1

/** Long enough for the honest client to be served in time on a busy machine. */
const timeoutMs = 3_000

/** Sends the bytes one by one, slowly, until they are sent or the server has had enough. */
async function drip(attacker: RawClient, bytes: Uint8Array, pauseMs = 15): Promise<number> {
  let sent = 0
  for (; sent < bytes.length && !attacker.isEnded; sent++) {
    attacker.send(bytes.subarray(sent, sent + 1))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  return sent
}

/** A message with a long answer. */
const long = 'x'.repeat(15_000)

/** Makes calls and reads no answers, until the server does not read either or all are sent. */
async function callWithoutReading(port: number, most: number) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  socket.pause()
  const wide = settings([settingId.INITIAL_WINDOW_SIZE, 2 ** 31 - 1])
  const window = frame(frameType.WINDOW_UPDATE, 0, 0, uint32(2 ** 30))
  socket.write(Buffer.concat([PREFACE, wide, window]))
  const attacker = { socket, sent: 0 }
  const write = (): void => {
    while (attacker.sent < most && socket.writable) {
      if (!socket.write(unaryCall(idOf(attacker.sent++), SAY, long))) return
    }
  }
  socket.on('drain', write)
  write()
  return attacker
}

// Each test has a server of its own, and mostly waits.
describe('who keeps the server waiting is sent away', { concurrency: true }, () => {
  test('a connection on which nothing comes', async (t) => {
    await underAttack(t, { prefaceTimeoutMs: timeoutMs }, async ({ port }) => {
      const attackers = await Promise.all(
        Array.from({ length: 20 }, async () => await RawClient.connect(port)),
      )
      for (const attacker of attackers) await attacker.ended()
    })
  })

  test('a preface that comes byte by byte', async (t) => {
    await underAttack(t, { prefaceTimeoutMs: timeoutMs }, async ({ port }) => {
      using attacker = await RawClient.connect(port)
      const sent = await drip(attacker, PREFACE, timeoutMs / 8)
      assert.ok(sent < PREFACE.length)
    })
  })

  test('a preface without SETTINGS', async (t) => {
    await underAttack(t, { prefaceTimeoutMs: timeoutMs }, async ({ port }) => {
      using attacker = await RawClient.connect(port)
      attacker.send(PREFACE)
      await attacker.ended()
    })
  })

  test('a header block that comes byte by byte', async (t) => {
    await underAttack(t, { frameTimeoutMs: timeoutMs }, async ({ port }) => {
      using attacker = await RawClient.open(port)
      const block = headerBlock({ ...requestFields(SAY), 'x-long': 'x'.repeat(500) })
      const sent = await drip(attacker, frame(frameType.HEADERS, flag.END_HEADERS, 1, block))
      assert.ok(sent < 500)
      assert.match((await attacker.goaway()).reason, /frameTimeoutMs/)
    })
  })

  test('a header block whose CONTINUATION frames come one by one', async (t) => {
    await underAttack(
      t,
      { frameTimeoutMs: timeoutMs, continuationFrames: 1000 },
      async ({ port }) => {
        using attacker = await RawClient.open(port)
        attacker.send(frame(frameType.HEADERS, 0, 1))
        for (let n = 0; n < 500 && !attacker.isEnded; n++) {
          attacker.send(frame(frameType.CONTINUATION, 0, 1))
          await new Promise((resolve) => setTimeout(resolve, 15))
        }
        assert.match((await attacker.goaway()).reason, /frameTimeoutMs/)
      },
    )
  })

  test('uploads that are never finished are answered for, and do not pile up', async (t) => {
    const limits = { requestTimeoutMs: timeoutMs, bufferedRequestBytes: 100_000 }
    await underAttack(t, limits, async ({ port, waiting }) => {
      using attacker = await RawClient.open(port)
      const begun = grpcMessage('x'.repeat(9000)).subarray(0, 5000)
      const open = (id: number): Uint8Array =>
        Buffer.concat([
          frame(frameType.HEADERS, flag.END_HEADERS, id, headerBlock(requestFields(WAIT))),
          frame(frameType.DATA, 0, id, begun),
        ])
      attacker.send(...repeat(50, (n) => open(idOf(n))))
      const statuses = new Set<string | undefined>()
      for (let n = 0; n < 50; n++) {
        statuses.add((await attacker.headers(idOf(n)))['grpc-status'])
      }
      // RESOURCE_EXHAUSTED for what is too much at a time, CANCELLED for the rest.
      assert.deepEqual([...statuses].sort(), ['1', '8'])
      assert.equal(waiting.length, 0)
    })
  })

  test('half messages of many connections end those that hold most of them', async (t) => {
    await underAttack(t, { totalBufferedRequestBytes: 1_000_000 }, async ({ port, waiting }) => {
      const begun = grpcMessage('x'.repeat(20_000)).subarray(0, 16_000)
      const begin = (id: number): Uint8Array =>
        Buffer.concat([
          frame(frameType.HEADERS, flag.END_HEADERS, id, headerBlock(requestFields(WAIT))),
          frame(frameType.DATA, 0, id, begun),
        ])
      using modest = await RawClient.open(port)
      modest.send(begin(1), frame(frameType.PING, 0, 0, Buffer.alloc(8)))
      await modest.nextOf(frameType.PING)
      const attackers = await Promise.all(
        Array.from({ length: 5 }, async () => await RawClient.open(port)),
      )
      for (const attacker of attackers) attacker.send(...repeat(20, (n) => begin(idOf(n))))
      const { code, reason } = await Promise.any(attackers.map((each) => each.goaway()))
      assert.equal(code, errorCode.ENHANCE_YOUR_CALM)
      assert.match(reason, /totalBufferedRequestBytes/)
      modest.send(frame(frameType.DATA, flag.END_STREAM, 1, Buffer.alloc(4005, 'x')))
      await until(() => waiting.length === 1)
      for (const attacker of attackers) attacker.socket.destroy()
    })
  })

  test('header fields of calls that are not finished count, too', async (t) => {
    await underAttack(t, { bufferedRequestBytes: 50_000 }, async ({ port }) => {
      using attacker = await RawClient.open(port)
      const block = headerBlock({ ...requestFields(WAIT), 'x-long': 'x'.repeat(12_000) })
      attacker.send(...repeat(6, (n) => frame(frameType.HEADERS, flag.END_HEADERS, idOf(n), block)))
      assert.equal((await attacker.headers(11))[':status'], '431')
    })
  })

  test('the length that a message claims costs nothing', async (t) => {
    await underAttack(t, {}, async ({ port }) => {
      using attacker = await RawClient.open(port)
      const claim = Buffer.from([0, 0, 0x3f, 0xff, 0xff, 1, 2, 3])
      const before = process.memoryUsage().arrayBuffers
      attacker.send(
        ...repeat(1000, (n) =>
          Buffer.concat([
            frame(frameType.HEADERS, flag.END_HEADERS, idOf(n), headerBlock(requestFields(WAIT))),
            frame(frameType.DATA, 0, idOf(n), claim),
          ]),
        ),
        frame(frameType.PING, 0, 0, Buffer.alloc(8)),
      )
      await attacker.nextOf(frameType.PING)
      // A thousand claims of 4 MiB each.
      assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 2 ** 20)
    })
  })
})

describe('who does not take the answers', { concurrency: true }, () => {
  test('by a window of 0, loses its connection', async (t) => {
    await underAttack(t, { heldBackTimeoutMs: timeoutMs }, async ({ port }) => {
      using attacker = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 0]))
      attacker.send(...repeat(100, (n) => unaryCall(idOf(n), SAY, long)))
      assert.match((await attacker.goaway()).reason, /heldBackTimeoutMs/)
      await attacker.ended()
    })
  })

  test('by a window that opens one byte at a time, gets no more than is kept for it', async (t) => {
    const limits = { heldBackTimeoutMs: 60_000, heldBackBytes: 100_000 }
    await underAttack(t, limits, async ({ port }) => {
      using attacker = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 0]))
      attacker.send(...repeat(100, (n) => unaryCall(idOf(n), SAY, long)))
      for (let n = 0; n < 50; n++) {
        attacker.send(frame(frameType.WINDOW_UPDATE, 0, 1, uint32(1)))
      }
      attacker.send(frame(frameType.PING, 0, 0, Buffer.alloc(8)))
      await attacker.nextOf(frameType.PING)
      const resets = attacker.frames.filter(({ type }) => type === frameType.RST_STREAM)
      assert.ok(resets.length >= 90)
      assert.equal(resets[0]?.payload.readUInt32BE(), errorCode.ENHANCE_YOUR_CALM)
    })
  })

  test('is closed when all who do so keep too much waiting', async (t) => {
    await underAttack(t, { totalUnsentBytes: 1_000_000 }, async ({ port }) => {
      const attackers = await Promise.all(
        Array.from(
          { length: 4 },
          async () => await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 0])),
        ),
      )
      for (const attacker of attackers) {
        attacker.send(...repeat(40, (n) => unaryCall(idOf(n), SAY, long)))
      }
      const { code, reason } = await Promise.any(attackers.map((each) => each.goaway()))
      assert.equal(code, errorCode.ENHANCE_YOUR_CALM)
      assert.match(reason, /totalUnsentBytes/)
      for (const attacker of attackers) attacker.socket.destroy()
    })
  })

  test('by not reading, when all who do so keep too much waiting, is closed at once', async (t) => {
    await underAttack(t, { totalUnsentBytes: 300_000 }, async ({ port, server }) => {
      const attacker = await callWithoutReading(port, 4000)
      await until(() => server.connections === 1)
      attacker.socket.destroy()
    })
  })

  test('by not reading, is not read from, and then loses its connection', async (t) => {
    const limits = { unsentBytes: 100_000, unsentTimeoutMs: timeoutMs }
    await underAttack(t, limits, async ({ port, server }) => {
      const attacker = await callWithoutReading(port, 4000)
      await until(() => server.connections === 1)
      assert.ok(attacker.sent < 4000, 'all of it was read')
      attacker.socket.destroy()
    })
  })
})
