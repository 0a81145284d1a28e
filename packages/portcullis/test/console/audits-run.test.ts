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

test('a server cannot redirect the audits and their headers to another server', async (t) => {
  const visits: (string | undefined)[] = []
  const elsewhere = await listen(t, (request, response) => {
    visits.push(`${request.method} with ${request.headers['x-api-key']}`)
    response.end('{}')
  })
  const ended = Promise.withResolvers<void>()
  let isRedirected = false
  const url = await listen(t, (_request, response) => {
    isRedirected = true
    response.writeHead(307, { location: elsewhere }).end()
  })
  const run = startAuditRun({
    url,
    headers: { 'x-api-key': 'secret' },
    profile: 'classic',
    extended: false,
  })
  const timer = setInterval(() => {
    if (run.toProgress().state !== 'running') ended.resolve()
  }, 20)
  t.after(() => clearInterval(timer))
  await ended.promise
  assert.equal(run.toProgress().state, 'done')
  assert.ok(isRedirected)
  assert.deepEqual(visits, [])
})

test('a probe response that never ends is aborted', async (t) => {
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
    message: `${url} responded with status 200 OK, and it has more than 1 MB. Check that this is the URL of a GraphQL server.`,
  })
  await closed.promise
})
