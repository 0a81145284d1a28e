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
import { repeat, SAY, STREAM, underAttack, WAIT } from './under-attack.ts'

const idOf = (index: number): number => 2 * index + 1

/** Long enough for the legitimate client to be served in time on a busy machine. */
const timeoutMs = 3_000

/** Sends the bytes one by one, slowly, until all are sent or the server closes the connection. */
async function drip(attacker: RawClient, bytes: Uint8Array, pauseMs = 15): Promise<number> {
  let sent = 0
  for (; sent < bytes.length && !attacker.isEnded; sent++) {
    attacker.send(bytes.subarray(sent, sent + 1))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  return sent
}

/** A message with a long response. */
const long = 'x'.repeat(15_000)

/** Makes calls without reading responses, until the server stops reading or all calls are sent. */
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

// Each test has its own server, and mostly waits.
describe('clients that keep the server waiting are disconnected', { concurrency: true }, () => {
  test('a connection without any data', async (t) => {
    await underAttack(t, { prefaceTimeoutMs: timeoutMs }, async ({ port }) => {
      const attackers = await Promise.all(
        Array.from({ length: 20 }, async () => await RawClient.connect(port)),
      )
      for (const attacker of attackers) await attacker.ended()
    })
  })

  test('a preface sent byte by byte', async (t) => {
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

  test('a header block sent byte by byte', async (t) => {
    await underAttack(t, { frameTimeoutMs: timeoutMs }, async ({ port }) => {
      using attacker = await RawClient.open(port)
      const block = headerBlock({ ...requestFields(SAY), 'x-long': 'x'.repeat(500) })
      const sent = await drip(attacker, frame(frameType.HEADERS, flag.END_HEADERS, 1, block))
      assert.ok(sent < 500)
      assert.match((await attacker.goaway()).reason, /frameTimeoutMs/)
    })
  })

  test('a header block whose CONTINUATION frames are sent one by one', async (t) => {
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

  test('unfinished uploads are ended and do not accumulate', async (t) => {
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
      // RESOURCE_EXHAUSTED for calls beyond the limit, CANCELLED for the others.
      assert.deepEqual([...statuses].sort(), ['1', '8'])
      assert.equal(waiting.length, 0)
    })
  })

  test('incomplete messages on many connections end the connections that hold most of them', async (t) => {
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

  const openCalls: Readonly<Record<string, string>> = {
    'calls without a message': WAIT,
    'streams that are never closed': STREAM,
  }
  for (const [name, path] of Object.entries(openCalls)) {
    test(`${name} end the connections with most of them`, async (t) => {
      await underAttack(t, { totalBufferedRequestBytes: 300_000 }, async ({ port }) => {
        const block = headerBlock(requestFields(path))
        const attackers = await Promise.all(
          Array.from({ length: 4 }, async () => await RawClient.open(port)),
        )
        const ping = frame(frameType.PING, 0, 0, Buffer.alloc(8))
        const isAnswer = ({ type }: { type: number }) =>
          type === frameType.PING || type === frameType.GOAWAY
        const send = (...frames: readonly Uint8Array[]) =>
          Promise.all(
            attackers.map(async (attacker) => {
              attacker.send(...frames)
              return await attacker.next(isAnswer).catch(() => undefined)
            }),
          )
        const calls = repeat(100, (n) => frame(frameType.HEADERS, flag.END_HEADERS, idOf(n), block))
        // At the second answer every call has been counted.
        const answers = [...(await send(...calls, ping)), ...(await send(ping))]
        const ended = answers.filter((answer) => answer?.type === frameType.GOAWAY)
        assert.ok(ended.length > 0 && ended.length < attackers.length, `${ended.length} of 4`)
        for (const answer of ended) assert.match(`${answer?.payload}`, /totalBufferedRequestBytes/)
        for (const attacker of attackers) attacker.socket.destroy()
      })
    })
  }

  test('a call that waits for its handler does not count', async (t) => {
    await underAttack(t, { bufferedRequestBytes: 3_000 }, async ({ port, waiting }) => {
      using client = await RawClient.open(port)
      client.send(...repeat(50, (n) => unaryCall(idOf(n), WAIT, 'x')))
      await until(() => waiting.length === 50)
      assert.ok(waiting.every((call) => call.isOpen))
    })
  })

  test('header fields of unfinished calls count too', async (t) => {
    await underAttack(t, { bufferedRequestBytes: 50_000 }, async ({ port }) => {
      using attacker = await RawClient.open(port)
      const block = headerBlock({ ...requestFields(WAIT), 'x-long': 'x'.repeat(12_000) })
      attacker.send(...repeat(6, (n) => frame(frameType.HEADERS, flag.END_HEADERS, idOf(n), block)))
      assert.equal((await attacker.headers(11))[':status'], '431')
    })
  })

  test('the declared length of a message costs nothing', async (t) => {
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
      // A thousand declared lengths of 4 MiB each.
      assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 2 ** 20)
    })
  })
})

describe('a client that does not read its responses', { concurrency: true }, () => {
  test('because of a window of 0 is disconnected', async (t) => {
    await underAttack(t, { heldBackTimeoutMs: timeoutMs }, async ({ port }) => {
      using attacker = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 0]))
      attacker.send(...repeat(100, (n) => unaryCall(idOf(n), SAY, long)))
      assert.match((await attacker.goaway()).reason, /heldBackTimeoutMs/)
      await attacker.ended()
    })
  })

  test('because its window opens byte by byte gets no more than the limit', async (t) => {
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

  test('is disconnected when such clients together exceed the limit', async (t) => {
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

  test('from its socket is disconnected at once when such clients together exceed the limit', async (t) => {
    await underAttack(t, { totalUnsentBytes: 300_000 }, async ({ port, server }) => {
      const attacker = await callWithoutReading(port, 4000)
      await until(() => server.connections === 1)
      attacker.socket.destroy()
    })
  })

  test('from its socket is not read from, and then disconnected', async (t) => {
    const limits = { unsentBytes: 100_000, unsentTimeoutMs: timeoutMs }
    await underAttack(t, limits, async ({ port, server }) => {
      const attacker = await callWithoutReading(port, 4000)
      await until(() => server.connections === 1)
      assert.ok(attacker.sent < 4000, 'all of it was read')
      attacker.socket.destroy()
    })
  })
})
