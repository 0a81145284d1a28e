import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGrpcClient } from '../../src/client.ts'
import { TURN_BYTES } from '../../src/http2/read-turns.ts'
import { openEchoServer } from '../support/echo-server.ts'
import { RawClient, unaryCall } from '../support/raw-client.ts'

const FLOOD = '/test.Echo/Flood'
const connectionCount = 10
const callsPerConnection = 5000

test('a client waits for a few shares of a flood, however many connections it comes from', async (t) => {
  let floodCalls = 0
  const { port } = await openEchoServer(t, {
    methods: {
      [FLOOD]: {
        kind: 'unary',
        handle(call) {
          floodCalls += 1
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

  const calls: Buffer[] = []
  for (let n = 0; n < callsPerConnection; n += 1) calls.push(unaryCall(2 * n + 1, FLOOD, 'x'))
  const flood = Buffer.concat(calls)
  for (let n = 0; n < connectionCount; n += 1) {
    const attacker = await RawClient.open(port)
    t.after(() => attacker.socket.destroy())
    attacker.socket.pause()
    attacker.send(flood)
  }

  const total = connectionCount * callsPerConnection
  const callsPerShare = Math.ceil((TURN_BYTES * callsPerConnection) / flood.length)
  const waits: number[] = []
  while (floodCalls < total / 2) {
    const before = floodCalls
    await callOnce()
    waits.push((floodCalls - before) / callsPerShare)
  }
  // A call and its response take a few iterations of the event loop, with one share in each.
  waits.sort((a, b) => a - b)
  assert.ok(waits.length > 10)
  assert.ok((waits[waits.length >> 1] ?? 0) <= 5, `it waited for ${waits.join(', ')} shares`)
})
