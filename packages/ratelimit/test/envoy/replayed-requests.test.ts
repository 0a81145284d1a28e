/**
 * @servers envoy
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { test } from 'node:test'
import { decodeResponse } from '../support/decode-response.ts'
import { exampleRules } from '../support/envoy-front.ts'
import { openService } from '../support/service-app.ts'
import { recordedRequests } from './recorded-requests.ts'

/** A constant time, 20 seconds into a future minute. */
const startMs = (Math.ceil(Date.now() / 86_400_000) + 1) * 86_400_000 + 20_000

/** Sends a recorded request and returns the response message. */
async function replay(
  session: ClientHttp2Session,
  { headers, body }: (typeof recordedRequests)[number],
): Promise<Buffer> {
  const stream = session.request(headers.flat())
  stream.end(Buffer.from(body, 'base64'))
  const [answer] = await once(stream, 'response')
  assert.equal(answer[':status'], 200)
  assert.equal(answer['content-type'], 'application/grpc')
  const trailers = once(stream, 'trailers')
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  const [{ 'grpc-status': status, 'grpc-message': message }] = await trailers
  assert.equal(status, '0', String(message))
  const bytes = Buffer.concat(chunks)
  assert.equal(bytes.readUInt8(0), 0)
  assert.equal(bytes.readUInt32BE(1), bytes.length - 5)
  return bytes.subarray(5)
}

test('the requests that Envoy sends get the expected decisions', async (t) => {
  const service = await openService(t, { rules: exampleRules, now: () => startMs })
  const session = connect(`http://${service.grpcAddress}`)
  t.after(() => session.destroy())

  const expected = [
    // Each status: code, limit, remaining.
    ['GET /', [1, 100, 99]],
    ['GET /search?q=1 with x-api-key: k1', [1, 100, 98], [1, 10, 9]],
    ['POST /login', [1, 5, 4]],
    ['GET /beta/x', [1, 3, 2]],
    ['GET /export', [1, 20, 15]],
    ['GET /search?q=1 with x-api-key: k1, where Envoy traces', [1, 100, 97], [1, 10, 8]],
  ]
  const [healthCheck, ...decisions] = recordedRequests
  assert.ok(healthCheck)
  assert.deepEqual([...(await replay(session, healthCheck))], [0x08, 1])

  const found: unknown[] = []
  for (const request of decisions) {
    const message = await replay(session, request)
    const { overallCode, statuses } = decodeResponse(message)
    assert.equal(overallCode, 1)
    const rows = statuses.map(({ code, currentLimit, limitRemaining }) => [
      code,
      currentLimit?.requestsPerUnit,
      limitRemaining,
    ])
    found.push([request.cause, ...rows])
  }
  assert.deepEqual(found, expected)
})

test('a repeated request is refused when its limit is reached', async (t) => {
  const service = await openService(t, { rules: exampleRules, now: () => startMs })
  const session = connect(`http://${service.grpcAddress}`)
  t.after(() => session.destroy())
  const login = recordedRequests.find(({ cause }) => cause === 'POST /login')
  assert.ok(login)
  const codes: number[] = []
  for (let call = 1; call <= 7; call += 1) {
    const message = await replay(session, login)
    codes.push(decodeResponse(message).overallCode)
  }
  assert.deepEqual(codes, [1, 1, 1, 1, 1, 2, 2])
})
