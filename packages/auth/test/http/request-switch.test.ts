import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { openRequestSwitch } from '../../src/http/request-switch.ts'

test('a running server passes its requests to another handler, and keeps its other listeners', async (t) => {
  const seen: (string | undefined)[] = []
  const server = createServer((_request, response) => response.end('first'))
  server.prependListener('request', ({ url }) => seen.push(url))
  const requests = openRequestSwitch(server)
  server.prependListener('request', ({ method }) => seen.push(method))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  assert.equal(await read('/1'), 'first')
  requests.switchTo((_request, response) => response.end('second'))
  assert.equal(await read('/2'), 'second')
  assert.deepEqual(seen, ['GET', '/1', 'GET', '/2'])
})
