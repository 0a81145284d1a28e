import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { serverAudits } from '../../src/audits/index.ts'
import { listen as listenFor, runAudit } from '../support/audit-command.ts'
import { closeServer, listen } from '../support/hosts/listen.ts'

test('the command sends the headers to no server that the audited one redirects to', async (t) => {
  const reached: (string | undefined)[] = []
  const elsewhere = await listenFor(t, (request, response) => {
    reached.push(request.headers.authorization)
    response.end('{"data":{}}')
  })
  let audits = 0
  const url = await listenFor(t, (request, response) => {
    // The command sends a first request to check that this is a GraphQL server.
    if (request.headers.accept?.includes('q=0.9')) return response.end('{"data":{}}')
    audits += 1
    return response.writeHead(307, { location: elsewhere }).end()
  })
  const flags = ['--extended', '--header', 'Authorization: Bearer secret']
  const { code, stdout } = await runAudit(['audit', url, ...flags])
  assert.equal(code, 1)
  assert.equal(audits, 76)
  assert.match(stdout, /the status is 307/)
  assert.deepEqual(reached, [])
})

test('the audit without an accept header does not read an endless body either', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const chunk = Buffer.alloc(65_536, ' ')
    const write = () => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', write)
    }
    write()
  })
  t.after(() => closeServer(server))
  const url = `http://127.0.0.1:${await listen(server)}/`
  const audit = serverAudits({ url, extended: true }).find(({ id }) => id === 'X101')
  await assert.rejects(async () => audit?.fn(), /The response body is too long/)
})

test('the table for a terminal has no control sequences from the server', async (t) => {
  const url = await listenFor(t, (request, response) => {
    const type = 'application/json\u009b31m'
    if (request.headers.accept?.includes('q=0.9')) return response.end('{"data":{}}')
    return response
      .writeHead(500, 'Oh\u009b31m', { 'content-type': type })
      .end('{"errors":[{"message":"\\u001b[31m"}]}')
  })
  for (const flags of [[], ['--json']]) {
    const { stdout } = await runAudit(['audit', url, ...flags])
    assert.match(stdout, /22EB/)
    for (const control of ['\u001b', '\u009b']) assert.equal(stdout.includes(control), false)
  }
})
