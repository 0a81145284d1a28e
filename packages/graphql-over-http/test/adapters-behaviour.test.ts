/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { OpenHost } from './support/hosts/host.ts'
import { hosts } from './support/hosts/index.ts'
import { limitBytes } from './support/hosts/scenarios.ts'
import { manyBytes } from './support/hosts/schema.ts'

const json = { 'content-type': 'application/json' }

for (const host of hosts) {
  const { limits = {} } = host

  describe(host.name, () => {
    let opened: OpenHost
    before(async () => {
      opened = await host.open()
    })
    after(() => opened.close())

    const send = (path: string, body: BodyInit, init: RequestInit = {}) =>
      opened.fetch(opened.origin + path, { method: 'POST', headers: json, body, ...init })
    const query = (path: string, text: string, variables?: object) =>
      send(path, JSON.stringify({ query: text, variables }))

    /** A query padded to that many bytes. */
    const ofBytes = (count: number) => '{"query":"{ hello }"}'.padEnd(count)

    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH', 'HEAD']) {
      test(`${method} is answered by the handler with 405 and the allowed methods`, async () => {
        const response = await opened.fetch(`${opened.origin}/graphql`, { method })
        assert.equal(response.status, 405)
        assert.equal(response.headers.get('allow'), 'GET, POST')
        const message = `Method ${method} is not allowed; use GET or POST`
        const expected = method === 'HEAD' ? '' : JSON.stringify({ errors: [{ message }] })
        // HTTP implementations drop the body of a response to HEAD; without a transport it is
        // visible.
        if (host.transport !== 'none' || method !== 'HEAD') {
          assert.equal(await response.text(), expected)
        }
      })
    }

    test('a query in the URL keeps its special characters', async () => {
      const text = `+ & = % ? # / " \\ ${manyBytes}`
      const search = new URLSearchParams({
        query: 'query ($text: String) { echo(text: $text) }',
        variables: JSON.stringify({ text }),
      })
      const response = await opened.fetch(`${opened.origin}/graphql?${search}`)
      assert.deepEqual(await response.json(), { data: { echo: text } })
    })

    test('multi-byte characters are unchanged in both directions', async () => {
      const response = await query('/graphql', 'query ($t: String) { echo(text: $t) manyBytes }', {
        t: manyBytes,
      })
      const text = await response.text()
      assert.deepEqual(JSON.parse(text), { data: { echo: manyBytes, manyBytes } })
      if (!limits.noContentLength) {
        assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(text)))
      }
    })

    if (!limits.noResponseHandle) {
      test('headers set through the native response are kept', async () => {
        const response = await query('/headers', '{ hello }')
        assert.equal(response.headers.get('x-custom'), 'kept')
        assert.equal(response.headers.get('set-cookie'), 'session=kept; Path=/')
        assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
        assert.deepEqual(await response.json(), { data: { hello: 'world' } })
      })
    }

    test('the option "vary" adds to the header', async () => {
      const response = await query('/vary', '{ hello }')
      const expected = limits.noResponseHandle ? 'Accept' : 'Origin, Accept'
      assert.equal(response.headers.get('vary'), expected)
      assert.equal((await query('/graphql', '{ hello }')).headers.get('vary'), null)
    })

    for (const path of ['/throws', '/rejects']) {
      test(`${path.slice(1)} in an option becomes 500 without a body and one line in the log`, async () => {
        await opened.take()
        const response = await query(path, '{ hello }')
        assert.equal(response.status, 500)
        assert.equal(await response.text(), '')
        const { errors, pending } = await opened.take()
        assert.equal(errors.length, 1, errors.join('\n'))
        assert.match(
          errors[0] ?? '',
          /^Internal error occurred during request handling\. .* a secret$/,
        )
        assert.equal(pending, 0)
      })
    }

    test('a request can be ended early with a status', async () => {
      const response = await query('/denied', '{ hello }')
      assert.equal(response.status, 401)
      assert.equal(await response.text(), '')
      if (!limits.noContentLength) assert.equal(response.headers.get('content-length'), '0')
      assert.equal(response.headers.get('content-type'), null)
    })

    test('a request can be ended early with text and headers', async () => {
      const response = await query('/pair', '{ hello }')
      assert.equal(response.status, 402)
      if (!limits.noStatusText) assert.equal(response.statusText, 'Pay First')
      assert.equal(response.headers.get('x-pair'), 'sent')
      assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
      assert.equal(await response.text(), 'Žluťoučký kůň')
    })

    test('a status without text gets the usual one', async () => {
      const response = await query('/no-text', '{ hello }')
      assert.equal(response.status, 403)
      if (!limits.noStatusText && host.transport !== 'none')
        assert.equal(response.statusText, 'Forbidden')
    })

    test('no content means no content length either', async () => {
      const response = await query('/no-content', '{ hello }')
      assert.equal(response.status, 204)
      assert.equal(response.headers.get('content-length'), null)
      assert.equal(await response.text(), '')
    })

    test('headers and body can be read after a wait', async () => {
      const response = await query('/late', '{ hello }')
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.deepEqual(await response.json(), { data: { hello: 'world' } })
    })

    test('a body above the limit is answered with 413', async () => {
      const response = await send('/limited', ofBytes(limitBytes + 1))
      assert.equal(response.status, 413)
      assert.match(await response.text(), /larger than 1000 bytes.*bodyLimitBytes/)
    })

    test('a body above 1 MiB is answered with 413 by default, and read with bodyLimitBytes: false', async () => {
      const body = ofBytes(2 ** 20 + 1)
      assert.equal((await send('/graphql', body)).status, 413)
      if (limits.readsBodyItself || limits.parsesBodyItself) return
      assert.equal((await send('/unlimited', body)).status, 200)
    })

    test('a body of exactly the limit is answered', async () => {
      const response = await send('/limited', ofBytes(limitBytes))
      assert.deepEqual(await response.json(), { data: { hello: 'world' } })
    })

    test('a body above the limit without a declared length is answered with 413', async () => {
      const query = `{ hello } #${'x'.repeat(limitBytes)}`
      const body = new ReadableStream({
        start(controller) {
          for (const part of ['{"query":"', query, '"}']) controller.enqueue(Buffer.from(part))
          controller.close()
        },
      })
      const response = await send('/limited', body, { duplex: 'half' } as RequestInit)
      assert.equal(response.status, 413)
      assert.match(await response.text(), /larger than 1000 bytes.*bodyLimitBytes/)
    })

    test('JSON that was encoded twice is refused', async () => {
      const response = await send('/graphql', JSON.stringify('{"query":"{ hello }"}'))
      assert.equal(response.status, 400)
    })

    test('JSON that was encoded twice and does not declare its length is refused', async () => {
      const sendInParts = (text: string) => {
        const body = new ReadableStream({
          start(controller) {
            for (const part of [text.slice(0, 5), text.slice(5)]) {
              controller.enqueue(Buffer.from(part))
            }
            controller.close()
          },
        })
        return send('/graphql', body, { duplex: 'half' } as RequestInit)
      }
      const text = '{"query":"{ hello }"}'
      assert.equal((await sendInParts(JSON.stringify(text))).status, 400)
      assert.equal((await sendInParts(text)).status, 200)
    })

    test('a byte order mark before the body is ignored', async () => {
      const response = await send('/graphql', '\uFEFF{"query":"{ hello }"}')
      assert.deepEqual(await response.json(), { data: { hello: 'world' } })
    })

    test('an unsupported Accept or Content-Type is answered with the reason', async () => {
      const headers = { ...json, accept: 'text/html' }
      const refused = await send('/graphql', '{"query":"{ hello }"}', { headers })
      assert.equal(refused.status, 406)
      assert.match(await refused.text(), /Accept must allow application\/graphql-response\+json/)
      const plain = { 'content-type': 'text/plain' }
      const unread = await send('/graphql', '{"query":"{ hello }"}', { headers: plain })
      assert.equal(unread.status, 415)
      if (!limits.parsesBodyItself) assert.match(await unread.text(), /must be application\/json/)
    })

    if (!limits.readsBodyItself && !limits.parsesBodyItself) {
      test('a compressed body is answered with 415', async () => {
        const headers = { ...json, 'content-encoding': 'gzip' }
        const bytes = gzipSync('{"query":"{ hello }"}')
        const response = await send('/graphql', bytes, { headers })
        assert.equal(response.status, 415)
        assert.equal(response.headers.get('accept-encoding'), 'identity')
      })
    }

    if (!limits.parsesBodyItself && !limits.decodesBodyItself) {
      test('bytes that are not UTF-8 are refused', async () => {
        const response = await send(
          '/graphql',
          Buffer.from('{"query":"{ hello } #\xff"}', 'latin1'),
        )
        assert.equal(response.status, 400)
        assert.deepEqual(await response.json(), { errors: [{ message: 'Unparsable JSON body' }] })
      })
    }

    for (const value of ['x\r\nset-cookie: stolen=1', 'x\ny', 'x\0y', '☃']) {
      test(`a header cannot be broken with ${JSON.stringify(value)}`, async () => {
        await opened.take()
        const response = await query(
          '/header-from-variable',
          'query ($value: String) { echo(text: $value) }',
          { value },
        )
        assert.equal(response.status, 500)
        assert.equal(response.headers.get('set-cookie'), null)
        assert.equal(await response.text(), '')
        const { errors, pending } = await opened.take()
        assert.equal(errors.length, 1, errors.join('\n'))
        assert.equal(pending, 0)
      })
    }
  })
}
