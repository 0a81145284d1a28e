import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { OpenHost } from './support/hosts/host.ts'
import { hosts } from './support/hosts/index.ts'
import { openConnection, readResponse, sendBytes, toHead } from './support/hosts/raw-http.ts'
import { limitBytes } from './support/hosts/scenarios.ts'
import { manyBytes } from './support/hosts/schema.ts'
import { assertUnharmed } from './support/hosts/unharmed.ts'

const json = { 'content-type': 'application/json' }
const echo = Buffer.from(JSON.stringify({ query: `{ echo(text: "${manyBytes}") }` }))
const slow = Buffer.from(JSON.stringify({ query: '{ slow(ms: 30) }' }))

const post = (path: string, length: number) =>
  toHead(`POST ${path}`, { ...json, 'content-length': String(length) })
const postChunks = (path: string) =>
  toHead(`POST ${path}`, { ...json, 'transfer-encoding': 'chunked' })

/** What a client has sent when it disconnects. */
const departures: { readonly [when: string]: string } = {
  'before the body': post('/graphql', slow.length),
  'in the middle of the body': `${post('/graphql', slow.length)}${slow.subarray(0, 9)}`,
  'between two chunks': `${postChunks('/graphql')}2\r\n{"\r\n`,
  'in the middle of a body above the limit': `${post('/limited', 1e6)}${' '.repeat(limitBytes * 2)}`,
  'while the query runs': `${post('/graphql', slow.length)}${slow}`,
}

for (const host of hosts.filter(({ transport }) => transport === 'HTTP/1')) {
  describe(host.name, () => {
    let opened: OpenHost
    before(async () => {
      opened = await host.open()
    })
    after(() => opened.close())

    const connect = async (t: TestContext) => {
      const socket = await openConnection(opened.port)
      t.after(() => socket.destroy())
      return socket
    }

    test('a body sent byte by byte equals one sent at once', async (t) => {
      const socket = await connect(t)
      const answer = readResponse(socket)
      socket.write(post('/graphql', echo.length))
      for (const byte of echo) {
        socket.write(Buffer.of(byte))
        await wait(1)
      }
      assert.deepEqual(JSON.parse((await answer)?.body ?? ''), { data: { echo: manyBytes } })
    })

    test('a body in chunks of one byte equals one sent at once', async (t) => {
      const socket = await connect(t)
      const answer = readResponse(socket)
      socket.write(postChunks('/graphql'))
      for (const byte of echo) {
        socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]))
        await wait(1)
      }
      socket.write('0\r\n\r\n')
      assert.deepEqual(JSON.parse((await answer)?.body ?? ''), { data: { echo: manyBytes } })
    })

    test('several requests share a connection', async (t) => {
      const socket = await connect(t)
      for (const path of ['/graphql', '/throws', '/denied', '/limited', '/graphql']) {
        const answer = readResponse(socket)
        socket.write(`${post(path, echo.length)}${echo}`)
        const status = { '/throws': 500, '/denied': 401 }[path] ?? 200
        assert.equal((await answer)?.status, status, path)
      }
      await opened.take()
    })

    for (const [when, sent] of Object.entries(departures)) {
      test(`a client that disconnects ${when} leaves nothing behind`, async (t) => {
        const closing = await connect(t)
        const resetting = await connect(t)
        closing.write(sent)
        resetting.write(sent)
        await wait(10)
        closing.destroy()
        resetting.resetAndDestroy()
        await assertUnharmed(opened)
      })
    }

    test('a client that disconnects aborts its query', async (t) => {
      const send = async (query: string) => {
        const body = JSON.stringify({ query })
        const init = { method: 'POST', headers: json, body }
        return (await opened.fetch(`${opened.origin}/disconnect`, init)).json()
      }
      const socket = await connect(t)
      const body = JSON.stringify({ query: '{ wait }' })
      socket.write(post('/disconnect', body.length) + body)
      assert.deepEqual(await send('{ running }'), { data: { running: 'running' } })
      socket.destroy()
      assert.deepEqual(await send('{ aborted }'), {
        data: { aborted: 'context true, execute true' },
      })
      await assertUnharmed(opened)
    })

    test('a client that sends a large body to its end still reads the response', async (t) => {
      const socket = await connect(t)
      const answer = readResponse(socket)
      const size = 3_000_000
      socket.write(post('/limited', size))
      for (let sent = 0; sent < size; sent += 100_000) {
        await sendBytes(socket, Buffer.alloc(100_000, ' '))
      }
      assert.equal((await answer)?.status, 413)
      await assertUnharmed(opened)
    })
  })
}
