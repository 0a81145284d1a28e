/**
 * @legs safety
 * @isolated measures the CPU time of its process
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errorCode, flag, frameType, settingId } from '../../src/http2/frames.ts'
import { defaultLimits, type Limits } from '../../src/limits.ts'
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
import { expectEnhanceYourCalm, repeat, SAY, underAttack, WAIT } from './under-attack.ts'

const waitHeaders = headerBlock(requestFields(WAIT))
const open = (id: number): Buffer => frame(frameType.HEADERS, flag.END_HEADERS, id, waitHeaders)
const cancel = (id: number): Buffer => frame(frameType.RST_STREAM, 0, id, uint32(errorCode.CANCEL))
const idOf = (index: number): number => 2 * index + 1

/** What a limit per second allows, also when a second ends in the middle of the attack. */
const atMost = (perSecond: number): number => 2 * (perSecond + 1)

/** 85 KB in six frames. */
const largeHeaders = headerBlock({ ...requestFields(SAY), 'x-large': 'x'.repeat(85_000) })

describe('floods end at the default limits of the server', () => {
  test('rapid reset (CVE-2023-44487): calls cancelled as soon as they are made', async (t) => {
    await underAttack(t, {}, async ({ port, waiting }) => {
      const pairs = repeat(3000, (n) =>
        Buffer.concat([unaryCall(idOf(n), WAIT, 'x'), cancel(idOf(n))]),
      )
      await expectEnhanceYourCalm(port, 'resetsPerSecond', ...pairs)
      assert.ok(waiting.length <= atMost(defaultLimits.resetsPerSecond))
    })
  })

  test('rapid reset with headers only', async (t) => {
    await underAttack(t, {}, async ({ port, waiting }) => {
      const pairs = repeat(3000, (n) => Buffer.concat([open(idOf(n)), cancel(idOf(n))]))
      await expectEnhanceYourCalm(port, 'resetsPerSecond', ...pairs)
      assert.equal(waiting.length, 0)
    })
  })

  test('messages that continue after their call was refused', async (t) => {
    await underAttack(t, {}, async ({ port }) => {
      const part = frame(frameType.DATA, 0, 1, Buffer.alloc(16_384))
      await expectEnhanceYourCalm(
        port,
        'discardedBytesPerSecond',
        open(1),
        frame(frameType.DATA, 0, 1, Buffer.from([0, 0x7f, 0xff, 0xff, 0xff])),
        ...repeat(4096, () => part),
      )
    })
  })

  test('CONTINUATION flood (CVE-2024-27316): empty frames', async (t) => {
    await underAttack(t, {}, async ({ port }) => {
      const empty = repeat(10_000, () => frame(frameType.CONTINUATION, 0, 1))
      await expectEnhanceYourCalm(
        port,
        'continuationFrames',
        frame(frameType.HEADERS, 0, 1),
        ...empty,
      )
    })
  })

  test('CONTINUATION flood: fields that are never decoded', async (t) => {
    await underAttack(t, {}, async ({ port }) => {
      const block = headerBlock({ 'x-long': 'x'.repeat(16_000) })
      const more = repeat(100, () => frame(frameType.CONTINUATION, 0, 1, block))
      await expectEnhanceYourCalm(
        port,
        'headerBlockBytes',
        frame(frameType.HEADERS, 0, 1, block),
        ...more,
      )
    })
  })

  const floods: Readonly<
    Record<
      string,
      {
        limit: keyof Limits
        limits?: Partial<Limits>
        first?: Uint8Array
        each: (n: number) => Uint8Array
      }
    >
  > = {
    SETTINGS: { limit: 'settingsPerSecond', each: () => settings() },
    'SETTINGS acknowledgement': {
      limit: 'settingsPerSecond',
      each: () => frame(frameType.SETTINGS, flag.ACK, 0),
    },
    PING: {
      limit: 'pingsPerSecond',
      each: () => frame(frameType.PING, 0, 0, Buffer.alloc(8)),
    },
    'PING acknowledgement': {
      limit: 'pingsPerSecond',
      each: () => frame(frameType.PING, flag.ACK, 0, Buffer.alloc(8)),
    },
    'empty DATA': {
      limit: 'emptyDataPerSecond',
      first: open(1),
      each: () => frame(frameType.DATA, 0, 1),
    },
    'DATA that is all padding': {
      limit: 'emptyDataPerSecond',
      first: open(1),
      each: () => frame(frameType.DATA, flag.PADDED, 1, Buffer.from([1, 0])),
    },
    'empty DATA for a stream that the server has reset': {
      limit: 'emptyDataPerSecond',
      first: frame(
        frameType.HEADERS,
        flag.END_HEADERS,
        1,
        headerBlock(requestFields('/test.Echo/Missing')),
      ),
      each: () => frame(frameType.DATA, 0, 1),
    },
    PRIORITY: {
      limit: 'prioritiesPerSecond',
      each: (n) => frame(frameType.PRIORITY, 0, idOf(n), Buffer.alloc(5)),
    },
    'WINDOW_UPDATE of the connection': {
      limit: 'windowUpdatesPerSecond',
      each: () => frame(frameType.WINDOW_UPDATE, 0, 0, uint32(1)),
    },
    'WINDOW_UPDATE of a stream': {
      limit: 'windowUpdatesPerSecond',
      first: open(1),
      each: () => frame(frameType.WINDOW_UPDATE, 0, 1, uint32(1)),
    },
    'DATA of one byte': {
      limit: 'smallDataPerSecond',
      first: open(1),
      each: () => frame(frameType.DATA, 0, 1, Buffer.alloc(1)),
    },
    'DATA of one byte for a stream that the server has reset': {
      limit: 'smallDataPerSecond',
      first: frame(
        frameType.HEADERS,
        flag.END_HEADERS,
        1,
        headerBlock(requestFields('/test.Echo/Missing')),
      ),
      each: () => frame(frameType.DATA, 0, 1, Buffer.alloc(1)),
    },
    'calls beyond the number of concurrent ones': {
      limit: 'refusedStreamsPerSecond',
      first: Buffer.concat(
        repeat(defaultLimits.concurrentStreams, (n) => unaryCall(idOf(n), WAIT, 'x')),
      ),
      each: (n) => open(idOf(n + defaultLimits.concurrentStreams)),
    },
    'header fields beyond the limit': {
      limit: 'largeHeadersPerSecond',
      // Each takes about a millisecond to read, so a busy machine might not read fifty of them in a second.
      limits: { largeHeadersPerSecond: 5 },
      each: (n) =>
        Buffer.concat([
          frame(frameType.HEADERS, flag.END_STREAM, idOf(n), largeHeaders.subarray(0, 16_384)),
          ...repeat(5, (part) =>
            frame(
              frameType.CONTINUATION,
              part === 4 ? flag.END_HEADERS : 0,
              idOf(n),
              largeHeaders.subarray(16_384 * (part + 1), 16_384 * (part + 2)),
            ),
          ),
        ]),
    },
    'calls that are reset when they are answered': {
      limit: 'lateResetsPerSecond',
      each: (n) => Buffer.concat([unaryCall(idOf(n), SAY, 'x'), cancel(idOf(n))]),
    },
    'calls that are reset when their responses wait for a window': {
      limit: 'lateResetsPerSecond',
      first: settings([settingId.INITIAL_WINDOW_SIZE, 0]),
      each: (n) => Buffer.concat([unaryCall(idOf(n), SAY, 'x'), cancel(idOf(n))]),
    },
    'RST_STREAM for a stream that is over': {
      limit: 'lateResetsPerSecond',
      first: Buffer.concat([open(1), cancel(1)]),
      each: () => cancel(1),
    },
    GOAWAY: {
      limit: 'strayFramesPerSecond',
      each: () => frame(frameType.GOAWAY, 0, 0, Buffer.alloc(8)),
    },
    'frames of unknown type': {
      limit: 'strayFramesPerSecond',
      each: (n) => frame(10 + (n % 200), 0xff, n, Buffer.alloc(20)),
    },
  }
  for (const [what, { limit, limits = {}, first, each }] of Object.entries(floods)) {
    test(what, async (t) => {
      await underAttack(t, limits, async ({ port }) => {
        const frames = repeat(3 * (limits[limit] ?? defaultLimits[limit]), each)
        await expectEnhanceYourCalm(port, limit, ...(first ? [first] : []), ...frames)
      })
    })
  }
})

describe('MadeYouReset (CVE-2025-8671): the server is made to reset calls it has begun', () => {
  const primitives: Readonly<Record<string, (id: number) => Uint8Array>> = {
    'WINDOW_UPDATE of 0': (id) => frame(frameType.WINDOW_UPDATE, 0, id, uint32(0)),
    'a window over its maximum': (id) => frame(frameType.WINDOW_UPDATE, 0, id, uint32(2 ** 31 - 1)),
    'DATA after the end': (id) => frame(frameType.DATA, flag.END_STREAM, id, grpcMessage('x')),
    'HEADERS after the end': (id) => open(id),
    'PRIORITY of a wrong length': (id) => frame(frameType.PRIORITY, 0, id, Buffer.alloc(4)),
    'PRIORITY that depends on itself': (id) =>
      frame(frameType.PRIORITY, 0, id, Buffer.concat([uint32(id), Buffer.alloc(1)])),
  }
  for (const [what, provoke] of Object.entries(primitives)) {
    test(what, async (t) => {
      await underAttack(t, {}, async ({ port, waiting }) => {
        const calls = repeat(1000, (n) =>
          Buffer.concat([unaryCall(idOf(n), WAIT, 'x'), provoke(idOf(n))]),
        )
        await expectEnhanceYourCalm(port, 'streamErrorsPerSecond', ...calls)
        assert.ok(waiting.length <= atMost(defaultLimits.streamErrorsPerSecond))
      })
    })
  }
})

describe('few bytes do not cause much work', () => {
  /** CPU time of this process, which runs both the server and the attacker. */
  async function cpuMsOf(run: () => Promise<void>): Promise<number> {
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }

  test('a SETTINGS frame with many initial windows updates the open streams once', async (t) => {
    await underAttack(t, {}, async ({ port }) => {
      using attacker = await RawClient.open(port)
      attacker.send(...repeat(1000, (n) => unaryCall(idOf(n), WAIT, 'x')))
      const windows = Array.from(
        { length: 2730 },
        (_, n) => [settingId.INITIAL_WINDOW_SIZE, 1000 + (n % 2)] as const,
      )
      const cpuMs = await cpuMsOf(async () => {
        attacker.send(...repeat(40, () => settings(...windows)))
        attacker.send(frame(frameType.PING, 0, 0, Buffer.alloc(8)))
        await attacker.nextOf(frameType.PING)
      })
      // Updating them for each of the windows takes 3 to 5 seconds here.
      assert.ok(cpuMs < 1500, `${cpuMs} ms`)
      attacker.send(frame(frameType.DATA, 0, 0))
      await attacker.ended()
    })
  })

  test('names from long table entries are not checked again', async (t) => {
    const limits = { headerListBytes: 2 ** 24, largeHeadersPerSecond: 1000 }
    await underAttack(t, limits, async ({ port }) => {
      using attacker = await RawClient.open(port)
      const fields = headerBlock(requestFields(SAY))
      const longName = Buffer.from(`\x40\x7f\xa1\x1e${'x'.repeat(4000)}\x00`, 'latin1')
      const end = flag.END_HEADERS | flag.END_STREAM
      attacker.send(frame(frameType.HEADERS, end, 1, Buffer.concat([fields, longName])))
      // A field with the name of the newest entry and an empty value: three bytes that decode to 4,000.
      const bomb = Buffer.concat([fields, Buffer.alloc(16_200, Buffer.from([0x0f, 0x2f, 0]))])
      const cpuMs = await cpuMsOf(async () => {
        attacker.send(...repeat(60, (n) => frame(frameType.HEADERS, end, idOf(n) + 2, bomb)))
        const { fields: refusal } = await attacker.nextOf(frameType.HEADERS, 121)
        assert.equal(refusal?.['grpc-status'], '8')
      })
      // Checking every name takes 2 seconds here.
      assert.ok(cpuMs < 1200, `${cpuMs} ms`)
    })
  })

  test('opening the connection window costs little when no stream waits', async (t) => {
    await underAttack(t, {}, async ({ port }) => {
      using attacker = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 0]))
      attacker.send(...repeat(1000, (n) => unaryCall(idOf(n), SAY, 'held back')))
      const cpuMs = await cpuMsOf(async () => {
        attacker.send(...repeat(1900, () => frame(frameType.WINDOW_UPDATE, 0, 0, uint32(1))))
        attacker.send(frame(frameType.PING, 0, 0, Buffer.alloc(8)))
        await attacker.nextOf(frameType.PING)
      })
      assert.ok(cpuMs < 1500, `${cpuMs} ms`)
      assert.ok(!attacker.frames.some(({ type }) => type === frameType.DATA))
    })
  })
})
