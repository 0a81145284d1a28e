/**
 * @isolated measures the heap of its process
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import type { OpenHost } from './support/hosts/host.ts'
import { hosts } from './support/hosts/index.ts'
import { openConnection, readResponse, sendBytes, toHead } from './support/hosts/raw-http.ts'
import { assertUnharmed } from './support/hosts/unharmed.ts'

const megabyte = 1024 * 1024
const json = { 'content-type': 'application/json' }

/** Nested objects of the given depth. */
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

const malformed: readonly [name: string, body: string][] = [
  ['nothing but a space', ' '],
  ['half an object', '{"query":'],
  ['text without quotes', 'query { hello }'],
  ['single quotes', "{'query':'{ hello }'}"],
  ['a comma too many', '{"query":"{ hello }",}'],
  ['two objects', '{"query":"{ hello }"}{}'],
  ['a control character in a string', '{"query":"{ hello }\n"}'],
  ['a number', '1'],
  ['null', 'null'],
  ['a batch', '[{"query":"{ hello }"}]'],
  ['a prototype with the query', '{"__proto__":{"query":"{ hello }"}}'],
  ['a list a hundred thousand deep', '['.repeat(1e5) + ']'.repeat(1e5)],
  ['a list that never closes', '['.repeat(1e5)],
]

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

for (const host of hosts) {
  const { limits = {}, transport } = host

  describe(host.name, () => {
    let opened: OpenHost
    before(async () => {
      opened = await host.open()
    })
    after(() => opened.close())

    const send = (path: string, body: BodyInit) =>
      opened.fetch(opened.origin + path, { method: 'POST', headers: json, body })

    for (const [name, body] of malformed) {
      test(`${name} is answered with 400`, async () => {
        const response = await send('/graphql', body)
        const text = await response.text()
        assert.equal(response.status, 400, text)
        if (!limits.parsesBodyItself) {
          assert.match(text, /"(Unparsable JSON body|JSON body must be an object|Missing query)"/)
        }
      })
    }

    test('deep nesting is answered, and the server stays available', async () => {
      for (const body of [
        `{"query":"{ hello }","variables":${nested(10_000)}}`,
        JSON.stringify({ query: '{a'.repeat(20_000) }),
        JSON.stringify({ query: `{ hello(a: ${'['.repeat(20_000)}` }),
      ]) {
        const { status } = await send('/graphql', body)
        assert.ok(status === 200 || status === 400, String(status))
      }
      await assertUnharmed(opened)
    })

    test('names of the prototype in variables change nothing', async () => {
      const names = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
      const response = await send('/graphql', `{"query":"{ hello }","variables":${names}}`)
      if (response.ok) assert.deepEqual(await response.json(), { data: { hello: 'world' } })
      else assert.ok(limits.parsesBodyItself && response.status === 400)
      assert.equal('polluted' in {}, false)
      await assertUnharmed(opened)
    })

    test('random bytes never become a server error', async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), async (bytes) => {
          const { status } = await send('/graphql', Buffer.from(bytes))
          assert.equal(status, 400)
        }),
        { numRuns: 30 },
      )
      await assertUnharmed(opened)
    })

    if (transport !== 'HTTP/1') return

    if (!limits.readsBodyItself) {
      for (const framing of ['content-length', 'chunked'] as const) {
        test(`a body of 100 MB (${framing}) is answered without being buffered`, async (t) => {
          const { memory } = await opened.take()
          const socket = await openConnection(opened.port)
          t.after(() => socket.destroy())
          const answer = readResponse(socket)
          const size = 100 * megabyte
          const framed =
            framing === 'chunked'
              ? { 'transfer-encoding': 'chunked' }
              : { 'content-length': String(size) }
          socket.write(toHead('POST /limited', { ...json, ...framed }))
          const piece = Buffer.alloc(megabyte, ' ')
          const bytes =
            framing === 'chunked'
              ? Buffer.concat([Buffer.from('100000\r\n'), piece, Buffer.from('\r\n')])
              : piece
          for (let sent = 0; sent < size; sent += megabyte) await sendBytes(socket, bytes)
          assert.equal((await answer)?.status, 413)
          const growth = (await opened.take()).memory - memory
          // Less than the body itself; some memory may not have been collected yet.
          assert.ok(growth < 80 * megabyte, `${Math.round(growth / megabyte)} MB more`)
          await assertUnharmed(opened)
        })
      }
    }

    /** Waits until a count reaches the expected value. */
    const settled = async (count: () => Promise<number>, expected: number) => {
      const deadline = Date.now() + 120_000
      while ((await count()) > expected) {
        assert.ok(Date.now() < deadline, `${await count()} connections still open`)
        await wait(10)
      }
    }

    test('hundreds of aborted requests leave nothing behind', async () => {
      const body = JSON.stringify({ query: '{ slow(ms: 20) }' })
      const head = toHead('POST /graphql', { ...json, 'content-length': String(body.length) })
      const giveUp = async (number: number) => {
        const socket = await openConnection(opened.port)
        socket.write(head + body.slice(0, number % (body.length + 1)))
        await wait(number % 10)
        socket.resetAndDestroy()
        await once(socket, 'close')
      }
      const giveUpMany = async (count: number) => {
        for (let number = 0; number < count; number += 50) {
          await Promise.all(Array.from({ length: 50 }, (_, index) => giveUp(number + index)))
        }
        await assertUnharmed(opened)
        collectGarbage()
      }
      await giveUpMany(50)
      const connections = await opened.connections?.()
      const { heapUsed } = process.memoryUsage()
      const { memory } = await opened.take()
      await giveUpMany(200)
      const heapGrowth = process.memoryUsage().heapUsed - heapUsed
      assert.ok(heapGrowth < 2 * megabyte, `${heapGrowth} bytes of heap more`)
      const growth = (await opened.take()).memory - memory
      assert.ok(growth < 30 * megabyte, `${Math.round(growth / megabyte)} MB more`)
      await settled(async () => (await opened.connections?.()) ?? 0, connections ?? 0)
    })
  })
}
