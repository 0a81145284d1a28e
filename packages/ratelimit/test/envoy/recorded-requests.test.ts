/**
 * @servers envoy
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { openFront } from '../support/envoy-front.ts'
import { decisionPath } from '../support/service-client.ts'
import { recordedRequests } from './recorded-requests.ts'

/** Allows every request and records it. */
async function openRecorder(t: TestContext) {
  const received: { names: string[]; body: string }[] = []
  const server = createServer()
  server.on('stream', async (stream, headers, _flags, rawHeaders) => {
    stream.on('error', () => {})
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk)
    if (headers[':path'] === decisionPath) {
      const names = rawHeaders.filter((_, index) => index % 2 === 0)
      received.push({ names, body: Buffer.concat(chunks).toString('base64') })
    }
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    )
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    // The overall code OK for a decision, SERVING for a health check.
    stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, 1]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { received, grpcAddress: `127.0.0.1:${port}` }
}

test('the recorded requests are those that Envoy sends', async (t) => {
  const recorder = await openRecorder(t)
  const envoy = await openFront(t, { grpcAddresses: [recorder.grpcAddress] })
  if (!envoy) return
  const decisions = recordedRequests.filter(
    ({ headers, cause }) =>
      !cause.includes('where Envoy traces') && headers.some(([, value]) => value === decisionPath),
  )
  assert.equal(decisions.length, 5)
  for (const { cause } of decisions) {
    const [, method = '', path = '', key] =
      /^(\w+) (\S+)(?: with x-api-key: (.+))?$/.exec(cause) ?? []
    const headers = key === undefined ? {} : { 'x-api-key': key }
    await (await fetch(`${envoy.url}${path}`, { method, headers })).arrayBuffer()
  }
  const expected = decisions.map(({ headers, body }) => ({
    names: headers.map(([name]) => name),
    body,
  }))
  assert.deepEqual(recorder.received, expected)
})
