import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import test from 'node:test'
import { findInodes, findListener } from '../servers/find-listener.ts'

test('only listening sockets of the port are found in the kernel table', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 578 1 x
   1: 0100007F:1F90 0100007F:B0B0 01 00000000:00000000 00:00000000 00000000     0        0 600 1 x
   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 601 1 x`
  assert.deepEqual(findInodes(table, 8080), ['578'])
})

test('the process of a port is found, and none for a closed port', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  assert.equal(await findListener(address.port), process.pid)
  server.close()
  await once(server, 'close')
  assert.equal(await findListener(address.port), undefined)
})
