import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openGrpcClient } from '../../src/client.ts'
import { TURN_BYTES, TURN_MS } from '../../src/http2/read-turns.ts'
import { READ_SIZE } from '../../src/in-place-reads.ts'
import { openEchoServer } from '../support/echo-server.ts'
import { RawClient, unaryCall } from '../support/raw-client.ts'

const FLOOD = '/test.Echo/Flood'
const connectionCount = 10

interface FloodPlan {
  readonly callsPerConnection: number
  readonly message: string
  /** How long the server takes for a call of the flood. */
  readonly handlingMs: number
}

/** Returns how many calls of the flood were handled while each call of another client waited. */
async function countCallsBefore(
  t: TestContext,
  { callsPerConnection, message, handlingMs }: FloodPlan,
): Promise<readonly number[]> {
  let floodCalls = 0
  const { port } = await openEchoServer(t, {
    methods: {
      [FLOOD]: {
        kind: 'unary',
        handle(call) {
          floodCalls += 1
          const endsAtMs = performance.now() + handlingMs
          while (performance.now() < endsAtMs);
          call.send(call.buffer, call.start, call.end)
        },
      },
    },
  })
  const client = await openGrpcClient({ address: `127.0.0.1:${port}` })
  t.after(() => client.close())
  const callOnce = async (): Promise<void> => {
    const { code } = await client.call('/test.Echo/Say', Buffer.from('x'), { deadlineMs: 60_000 })
    assert.equal(code, 0)
  }
  await callOnce()

  const flood = Buffer.concat(
    Array.from({ length: callsPerConnection }, (_, n) => unaryCall(2 * n + 1, FLOOD, message)),
  )
  for (let n = 0; n < connectionCount; n += 1) {
    const attacker = await RawClient.open(port)
    t.after(() => attacker.socket.destroy())
    attacker.socket.pause()
    attacker.send(flood)
  }

  const waits: number[] = []
  while (floodCalls < (connectionCount * callsPerConnection) / 2) {
    const before = floodCalls
    await callOnce()
    waits.push(floodCalls - before)
  }
  return waits
}

/** A call and its response take a few iterations of the event loop, with one share in each. */
function assertFewShares(waits: readonly number[], callsPerShare: number): void {
  const shares = waits.map((calls) => calls / callsPerShare).toSorted((a, b) => a - b)
  assert.ok(shares.length > 10)
  assert.ok((shares[shares.length >> 1] ?? 0) <= 5, `it waited for ${shares.join(', ')} shares`)
}

const callBytes = (message: string) => unaryCall(1, FLOOD, message).length

test('a client waits for a few shares of a flood, however many connections it comes from', async (t) => {
  const message = 'x'
  const waits = await countCallsBefore(t, { callsPerConnection: 5000, message, handlingMs: 0 })
  assertFewShares(waits, Math.ceil(TURN_BYTES / callBytes(message)))
})

test('a client waits for a few reads of a flood whose calls take long', async (t) => {
  const message = 'x'.repeat(4000)
  const handlingMs = 2 * TURN_MS
  const waits = await countCallsBefore(t, { callsPerConnection: 60, message, handlingMs })
  assertFewShares(waits, Math.ceil(READ_SIZE / callBytes(message)))
})
