import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { probeServer, startAuditRun } from '../../src/console/routes/audits-run.ts'

async function listen(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/graphql`
}

test('a server cannot lead the audits, and the headers meant for it, to another', async (t) => {
  const visits: (string | undefined)[] = []
  const elsewhere = await listen(t, (request, response) => {
    visits.push(`${request.method} with ${request.headers['x-api-key']}`)
    response.end('{}')
  })
  const ended = Promise.withResolvers<void>()
  let isLed = false
  const url = await listen(t, (_request, response) => {
    isLed = true
    response.writeHead(307, { location: elsewhere }).end()
  })
  const run = startAuditRun({
    url,
    headers: { 'x-api-key': 'secret' },
    profile: 'classic',
    extended: false,
  })
  const look = setInterval(() => {
    if (run.toProgress().state !== 'running') ended.resolve()
  }, 20)
  t.after(() => clearInterval(look))
  await ended.promise
  assert.equal(run.toProgress().state, 'done')
  assert.ok(isLed)
  assert.deepEqual(visits, [])
})

test('a server that never ends its answer to the probe is cut off', async (t) => {
  const closed = Promise.withResolvers<void>()
  const url = await listen(t, (_request, response) => {
    response.once('close', closed.resolve)
    const send = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
    }
    response.writeHead(200, { 'content-type': 'application/json' }).on('drain', send)
    send()
  })
  const plan = { url, headers: {}, profile: 'classic', extended: false } as const
  await assert.rejects(probeServer(plan), {
    code: 'not_graphql',
    message: `${url} answered 200 OK, and it sent more than 1 MB. Is this the address of a GraphQL server?`,
  })
  await closed.promise
})
