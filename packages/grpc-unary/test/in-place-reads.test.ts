import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { readInPlace } from '../src/in-place-reads.ts'

/** Two ends of a connection; the server's end reads in place. */
async function openPair(t: TestContext, onRead: (bytes: Buffer, length: number) => void) {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => listener.close())
  const address = listener.address()
  assert.ok(address && typeof address === 'object')
  const client = connect(address.port, '127.0.0.1')
  t.after(() => client.destroy())
  const [accepted]: Socket[] = await once(listener, 'connection')
  assert.ok(accepted)
  const socket = readInPlace(accepted, onRead)
  assert.ok(socket, 'this version of Node supports reading in place')
  t.after(() => socket.destroy())
  socket.resume()
  return { listener, client, socket }
}

test('every read uses the same buffer', async (t) => {
  const buffers = new Set<Buffer>()
  let got = ''
  const { client, socket } = await openPair(t, (bytes, length) => {
    buffers.add(bytes)
    got += bytes.toString('latin1', 0, length)
    socket.write('ok')
  })
  for (const word of ['one', 'two', 'three']) {
    client.write(word)
    await once(client, 'data')
  }
  assert.equal(got, 'onetwothree')
  assert.equal(buffers.size, 1)
})

test('a paused socket delivers its data later, and the end is noticed', async (t) => {
  let got = 0
  const { client, socket, listener } = await openPair(t, (_bytes, length) => {
    got += length
  })
  socket.pause()
  client.end(Buffer.alloc(200_000))
  await new Promise((resolve) => setTimeout(resolve, 30))
  assert.equal(got, 0)
  const closed = once(socket, 'close')
  socket.resume()
  await closed
  assert.equal(got, 200_000)
  const count = await new Promise((resolve) => listener.getConnections((_, n) => resolve(n)))
  assert.equal(count, 0)
})

test('a socket of another kind is unchanged', () => {
  const other: unknown = new PassThrough()
  assert.equal(Reflect.apply(readInPlace, undefined, [other, () => {}]), undefined)
})
