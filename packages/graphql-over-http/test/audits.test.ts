/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { buildSchema } from 'graphql'
import { createHandler } from '../src/adapters/http.ts'
import {
  type AuditResult,
  auditServer,
  RateLimitedError,
  serverAudits,
} from '../src/audits/index.ts'
import { AUDIT_NAMES } from './support/audit-names.ts'
import { createAuditFetch, startAuditServer } from './support/audit-server.ts'

const url = 'http://host/graphql'

/** The audits that the 2026 draft contradicts. */
const CLASSIC_ONLY =
  '423L LKJ0 LKJ1 LKJ2 LKJ3 6C00 6C01 6C02 6C03 4760 4761 4762 4763 58B0 58B1 58B2 58B3 3E3A 572B FDE2 7B9B 86EE'

function failedIds(results: readonly AuditResult[]): string[] {
  return results.filter(({ status }) => status !== 'ok').map(({ id }) => id)
}

/** A fetch that records whether the bodies of its responses were read or cancelled. */
function createTrackedFetch(status: number, text: string) {
  const bodies: { isClosed: boolean }[] = []
  const fetchFn = (): Response => {
    const body = { isClosed: false }
    bodies.push(body)
    const chunks = [text.slice(0, 5), text.slice(5)]
    const stream = new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift()
        if (chunk !== undefined) return controller.enqueue(new TextEncoder().encode(chunk))
        body.isClosed = true
        controller.close()
      },
      cancel() {
        body.isClosed = true
      },
    })
    return new Response(stream, { status, headers: { 'content-type': 'application/json' } })
  }
  return { fetchFn, bodies }
}

describe('the list of audits', () => {
  test('is by default exactly the published one', () => {
    const audits = serverAudits({ url })
    assert.deepEqual(
      audits.map(({ id, name }) => [id, name]),
      AUDIT_NAMES,
    )
  })

  test('consists of objects that print and compare as those of graphql-http', () => {
    for (const audit of serverAudits({ url, profile: '2026', extended: true })) {
      assert.deepEqual(Object.keys(audit), ['id', 'name', 'fn'])
    }
  })

  test('has unique ids of four characters and names that start with the level', () => {
    const options = { url, extended: true }
    const rows = [...serverAudits(options), ...serverAudits({ ...options, profile: '2026' })]
    const names = new Map(rows.map(({ id, name }) => [id, name]))
    for (const { id, name, level } of rows) {
      assert.match(id, /^[0-9A-Z]{4}$/)
      assert.equal(names.get(id), name)
      assert.equal(name.split(' ')[0], level)
    }
    assert.equal(new Set(names.values()).size, names.size)
  })

  test('sends nothing when it is made', () => {
    let calls = 0
    const count = () => {
      calls++
      return url
    }
    const fetchFn = () => {
      calls++
      return new Response()
    }
    const audits = serverAudits({ url: count, fetchFn, extended: true, profile: '2026' })
    assert.ok(audits.length > 61)
    assert.equal(calls, 0)
  })

  test('has the stricter variants appended when extended', () => {
    const ids = serverAudits({ url, extended: true }).map(({ id }) => id)
    assert.equal(ids.length, 76)
    assert.ok(ids.slice(61).every((id) => id.startsWith('X1')))
  })

  test('leaves out the audit that needs node:http when there is a fetchFn', () => {
    const ids = serverAudits({ url, extended: true, fetchFn: fetch }).map(({ id }) => id)
    assert.equal(ids.includes('X101'), false)
    assert.equal(ids.length, 75)
  })

  test('leaves out the audits that the 2026 draft contradicts and adds those that it requires', () => {
    const ids = serverAudits({ url, profile: '2026' }).map(({ id }) => id)
    const left = AUDIT_NAMES.map(([id]) => id).filter((id) => !CLASSIC_ONLY.split(' ').includes(id))
    assert.equal(left.length, 61 - 22)
    assert.deepEqual(ids.slice(0, left.length), left)
    assert.ok(ids.slice(left.length).every((id) => /^X[23]/.test(id)))
  })

  test('keeps the variants that apply to the 2026 draft', () => {
    const variants = serverAudits({ url, profile: '2026', extended: true })
      .map(({ id }) => id)
      .filter((id) => id.startsWith('X1'))
    assert.equal(variants.join(' '), 'X101 X102 X103 X104 X105 X106 X107 X108 X109 X111 X113')
  })

  const badOptions = [
    [{}, /`url`/],
    [{ url: '' }, /`url`/],
    [{ url, fetchFn: 'fetch' }, /`fetchFn`/],
    [{ url, profile: '2025' }, /`profile`/],
    [{ url, headers: { Accept: 'text/html' } }, /`headers`.*Accept/],
  ] as const
  for (const [options, message] of badOptions) {
    test(`is refused for ${JSON.stringify(options)} with the name of the option`, () => {
      assert.throws(() => Reflect.apply(serverAudits, undefined, [options]), {
        name: 'TypeError',
        message,
      })
    })
  }
})

describe('against a perfect server', () => {
  for (const profile of ['classic', '2026'] as const) {
    for (const mutations of [true, false]) {
      test(`all audits pass: ${profile}, ${mutations ? 'with' : 'without'} mutations`, async (t) => {
        const server = await startAuditServer({ profile, mutations })
        t.after(() => server.close())
        const results = await auditServer({ url: server.url, profile, extended: true })
        assert.deepEqual(failedIds(results), [])
        assert.equal(results.length, profile === 'classic' ? 76 : 118)
      })
    }

    test(`the stricter variants pass when introspection is disabled: ${profile}`, async () => {
      const fetchFn = createAuditFetch({ profile, introspection: false })
      const results = await auditServer({ url, fetchFn, profile, extended: true })
      const expected = ['2EA1', '28B9', 'D6D5', '6A70']
      // With the classic status codes even a refused query has the status that BF61 expects.
      if (profile === '2026') expected.unshift('BF61')
      assert.deepEqual(failedIds(results), expected)
    })
  }
})

describe("against the library's own handler", () => {
  for (const profile of ['classic', '2026'] as const) {
    test(`all audits of the ${profile} profile pass`, async (t) => {
      const schema = buildSchema('type Query { hello: String } type Mutation { wave: String }')
      const server = createServer(createHandler({ schema, profile }))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      t.after(() => {
        server.close()
        server.closeAllConnections()
      })
      const { port } = server.address() as AddressInfo
      const results = await auditServer({
        url: `http://127.0.0.1:${port}/graphql`,
        profile,
        extended: true,
      })
      assert.deepEqual(failedIds(results), [])
    })
  }
})

describe('an audit', () => {
  test('fails as error when the server must, and as warn when it should or may', async () => {
    const fetchFn = () => new Response('<teapot>', { status: 418 })
    for (const profile of ['classic', '2026'] as const) {
      const results = await auditServer({ url, fetchFn, profile, extended: true })
      const failed = results.filter((result) => result.status !== 'ok')
      assert.ok(failed.length > 30)
      for (const { name, level, status } of failed) {
        assert.equal(level, name.split(' ')[0])
        assert.equal(status, level === 'MUST' ? 'error' : 'warn')
      }
    }
  })

  test('calls the url function each time', async () => {
    let calls = 0
    const next = async () => `http://host/${calls++}`
    const seen: string[] = []
    const [first, second] = serverAudits({
      url: next,
      fetchFn: (address) => {
        seen.push(address)
        return new Response()
      },
    })
    await first?.fn()
    await second?.fn()
    assert.deepEqual(seen, ['http://host/0', 'http://host/1'])
  })

  test('takes a promise of the address', async () => {
    const fetchFn = createAuditFetch()
    const results = await auditServer({ url: Promise.resolve(url), fetchFn })
    assert.deepEqual(failedIds(results), [])
  })

  test('keeps the query of the address and drops its fragment', async () => {
    const seen: string[] = []
    const audit = serverAudits({
      url: '/graphql?tenant=a#top',
      fetchFn: (address) => {
        seen.push(address)
        return new Response()
      },
    }).find(({ id }) => id === '5A70')
    await audit?.fn()
    assert.deepEqual(seen, ['/graphql?tenant=a&query=%7B+__typename+%7D'])
  })

  test('sends the given headers with every request', async (t) => {
    const seen = new Set<string | undefined>()
    let count = 0
    const server = await startAuditServer({
      onRequest: ({ headers }) => {
        count++
        seen.add(headers.authorization)
      },
    })
    t.after(() => server.close())
    const headers = { authorization: 'Bearer secret' }
    await auditServer({ url: server.url, headers, extended: true })
    assert.equal(count, 76)
    assert.deepEqual([...seen], ['Bearer secret'])
  })

  test('follows redirects depending on fetchInit', async (t) => {
    const paths = new Set<string | undefined>()
    const server = createServer((request, response) => {
      paths.add(request.url)
      response.writeHead(307, request.url === '/' ? { location: '/elsewhere' } : {}).end()
    })
    server.listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const [stays] = serverAudits({ url, fetchInit: { redirect: 'manual' } })
    const [follows] = serverAudits({ url })
    const result = await stays?.fn()
    assert.equal(result?.status === 'ok' ? undefined : result?.response.status, 307)
    assert.deepEqual([...paths], ['/'])
    await follows?.fn()
    assert.deepEqual([...paths], ['/', '/elsewhere'])
  })

  test('rejects when there is no response', async () => {
    const failure = new TypeError('fetch failed')
    const fetchFn = () => Promise.reject(failure)
    const [audit] = serverAudits({ url, fetchFn })
    await assert.rejects(async () => audit?.fn(), failure)
    await assert.rejects(auditServer({ url, fetchFn }), failure)
  })

  test('rejects when the response is cut off', async () => {
    const fetchFn = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.error(new Error('terminated'))
          },
        }),
      )
    const audit = serverAudits({ url, fetchFn }).find(({ id }) => id === '13EE')
    await assert.rejects(async () => audit?.fn(), /terminated/)
  })

  test('does not read an endless body to its end', async () => {
    let sent = 0
    const fetchFn = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sent += 65_536
            controller.enqueue(new Uint8Array(65_536))
          },
        }),
      )
    const audit = serverAudits({ url, fetchFn }).find(({ id }) => id === '13EE')
    const result = await audit?.fn()
    assert.ok(result && result.status !== 'ok')
    assert.equal(result.reason, 'Response body is longer than 1048576 bytes')
    assert.ok(sent < 4_000_000, `read ${sent} bytes`)
    await result.body?.cancel()
  })
})

describe('a result', () => {
  test('that failed can be read, whether or not the audit had to', async () => {
    const { fetchFn } = createTrackedFetch(200, '{"errors":[{"message":"no"}]}')
    const results = await auditServer({ url, fetchFn })
    const failed = results.filter((result) => result.status !== 'ok')
    // 13EE has read the body, LKJ0 only checked the status.
    assert.ok(failed.some(({ id }) => id === '13EE') && failed.some(({ id }) => id === 'LKJ0'))
    for (const { response, body, reason } of failed) {
      assert.ok(reason.length > 0)
      assert.equal(body, response.body)
      assert.equal(await response.text(), '{"errors":[{"message":"no"}]}')
    }
  })

  test('that failed without a body has none', async () => {
    const fetchFn = () => new Response(null, { status: 204 })
    const [audit] = serverAudits({ url, fetchFn })
    const result = await audit?.fn()
    assert.ok(result && result.status !== 'ok')
    assert.equal('body' in result, false)
  })

  test('of a fetch with Node streams, such as node-fetch, is like any other', async () => {
    const { fetchFn } = createTrackedFetch(200, '{"errors":[{"message":"no"}]}')
    const streams: Readable[] = []
    const results = await auditServer({
      url,
      fetchFn: () => {
        const stream = Readable.from(fetchFn().body ?? [], { objectMode: false })
        streams.push(stream)
        return Object.defineProperty(fetchFn(), 'body', { value: stream })
      },
    })
    const expected = await auditServer({ url, fetchFn })
    assert.deepEqual(failedIds(results), failedIds(expected))
    for (const result of results) {
      if (result.status === 'ok') continue
      assert.equal(result.body, result.response.body)
      assert.equal(await result.response.text(), '{"errors":[{"message":"no"}]}')
    }
    assert.ok(streams.every(({ destroyed, readableEnded }) => destroyed || readableEnded))
    for (const result of expected) if (result.status !== 'ok') await result.body?.cancel()
  })

  test('that passed has nothing to read and leaves no body open', async () => {
    const { fetchFn, bodies } = createTrackedFetch(200, '{"data":{"__typename":"Query"}}')
    let passed = 0
    for (const audit of serverAudits({ url, fetchFn })) {
      const result = await audit.fn()
      if (result.status !== 'ok') {
        await result.body?.cancel()
        continue
      }
      passed++
      assert.equal(bodies.at(-1)?.isClosed, true, audit.id)
      assert.deepEqual(Object.keys(result), ['id', 'name', 'level', 'status'])
    }
    assert.ok(passed > 20)
    assert.equal(bodies.length, 61)
  })

  test('of an aborted run leaves no body open', async () => {
    const tracked = createTrackedFetch(500, '{"errors":[]}')
    let calls = 0
    const fetchFn = () => {
      if (++calls === 40) throw new TypeError('fetch failed')
      return tracked.fetchFn()
    }
    await assert.rejects(auditServer({ url, fetchFn }), /fetch failed/)
    assert.ok(tracked.bodies.length > 0)
    assert.equal(tracked.bodies.filter(({ isClosed }) => !isClosed).length, 0)
  })
})

describe('the reason', () => {
  const cases: readonly (readonly [id: string, response: () => Response, reason: string])[] = [
    ['22EB', () => new Response(null, { status: 500 }), 'Response status code is not 200'],
    [
      '22EB',
      () => new Response('{}', { headers: { 'content-type': 'application/json' } }),
      'Response header content-type does not contain application/graphql-response+json',
    ],
    ['9C48', () => new Response(), 'Response status is not between 400 and 499'],
    [
      'B6DC',
      () => new Response(null, { status: 304 }),
      'Response status is not between any of the provided ranges: [200, 299], [400, 499], [500, 599]',
    ],
    ['13EE', () => new Response('no'), 'Response body is not valid JSON'],
    ['13EE', () => new Response(''), 'Response body is not valid JSON'],
    ['13EE', () => new Response('"text"'), 'Response body is not a JSON object'],
    [
      '13EE',
      () => new Response('{"errors":[]}'),
      'Response body execution result has a property "errors"',
    ],
    [
      'D586',
      () => new Response('{"data":null}'),
      'Response body execution result data is not "undefined"',
    ],
    [
      'X107',
      () => new Response('{}'),
      'Response body execution result does not have a property "data"',
    ],
    ['X103', () => new Response(Uint8Array.of(0xff)), 'Response body is not UTF-8 encoded'],
  ]
  for (const [id, response, reason] of cases) {
    test(`of ${id} can be: ${reason}`, async () => {
      const audits = serverAudits({ url, fetchFn: response, extended: true })
      const result = await audits.find((audit) => audit.id === id)?.fn()
      assert.ok(result && result.status !== 'ok')
      assert.equal(result.reason, reason)
      await result.body?.cancel()
    })
  }

  test('of the 2026 audits names the header', async () => {
    const cases = [
      ['X2M1', new Response(null, { status: 405 }), 'Response header allow is missing'],
      [
        'X2A3',
        new Response('{}', { headers: { 'content-type': 'application/json' } }),
        'Response header content-type contains application/json',
      ],
    ] as const
    for (const [id, response, reason] of cases) {
      const audits = serverAudits({ url, fetchFn: () => response, profile: '2026' })
      const result = await audits.find((audit) => audit.id === id)?.fn()
      assert.ok(result && result.status !== 'ok')
      assert.equal(result.reason, reason)
    }
  })
})

test('a response with 429 is reported as rate limiting, and no audit fails because of it', async () => {
  const limited = new Response('', { status: 429, headers: { 'retry-after': '7' } })
  const [audit] = serverAudits({ url: 'http://localhost/graphql', fetchFn: () => limited })
  const isLimited = (error: unknown) =>
    error instanceof RateLimitedError && error.retryAfterMs === 7_000
  await assert.rejects(audit?.fn() ?? Promise.resolve(), isLimited)
})
