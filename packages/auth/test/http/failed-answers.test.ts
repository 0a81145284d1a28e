import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLog } from '@portcullis/service-kit/log/log'
import type { FastifyReply } from 'fastify'
import { parseConfig } from '../../src/config/config.ts'
import { type Answer, json } from '../../src/http/call.ts'
import { trackConnections } from '../../src/http/connections.ts'
import { defineEndpoint } from '../../src/http/endpoint.ts'
import { createServer } from '../../src/http/server.ts'
import type { Services } from '../../src/services.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { send } from '../support/http-client.ts'
import { openRawConnection } from '../support/raw-connection.ts'

const circular: Record<string, unknown> = {}
circular['self'] = circular

/** Responses that cannot be sent. */
const unsendable: Readonly<Record<string, Answer>> = {
  'a header above U+00FF': { status: 303, headers: { location: 'https://site.example/\u0100' } },
  'a header with a line break': { status: 200, headers: { 'x-a': 'b\r\nset-cookie: c=d' } },
  'a header without a name': { status: 200, headers: { '': 'x' } },
  'a header of a response without a body': { status: 204, headers: { 'x-a': '\u0100' } },
  'a status that does not exist': { status: 99 },
  'a body that contains itself': json(circular),
  'a body with a number too large for JSON': json({ large: 1n }),
  'a body that throws': json({
    toJSON() {
      throw new Error('not today')
    },
  }),
}

async function openServer(t: TestContext, maxRequestDuration: string) {
  const { config } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: 'postgres://unused.example/auth',
    AUTH_API_MAX_REQUEST_DURATION: maxRequestDuration,
  })
  const log: string[] = []
  let answer: Answer = json({})
  /** Called for each request before its response is created. */
  let sabotage = (_reply: FastifyReply): void => {}
  const get = { method: 'GET', allowed: 'anyone', summary: 'Answers' } as const
  const success = { status: 200, description: 'An answer' }
  const server = createServer({
    endpoints: [
      defineEndpoint({ ...get, path: '/answer', success, handle: async () => answer }),
      defineEndpoint({ ...get, path: '/never', success, handle: () => new Promise(() => {}) }),
    ],
    services: { config, now: Date.now } as unknown as Services,
    log: createLog({ level: 'error', format: 'text', write: (line) => log.push(line) }),
  })
  const connections = trackConnections(server.server)
  server.addHook('onRequest', (_request, reply, done) => {
    sabotage(reply)
    done()
  })
  const url = await server.listen({ port: 0, host: '127.0.0.1' })
  const stop = async () => {
    await Promise.all([server.close(), connections.drain(new AbortController().signal)])
  }
  t.after(stop)
  return {
    url,
    log,
    stop,
    answerWith(next: Answer) {
      answer = next
    },
    sabotageWith(next: (reply: FastifyReply) => void) {
      sabotage = next
    },
  }
}

test('a response that cannot be sent becomes a 500', async (t) => {
  const { url, log, answerWith } = await openServer(t, '60s')
  for (const [what, answer] of Object.entries(unsendable)) {
    await t.test(what, async () => {
      log.length = 0
      answerWith(answer)
      const { status, body, headers } = await send(url, '/answer')
      assert.deepEqual([status, headers.get('x-sb-error-code')], [500, 'unexpected_failure'])
      if (answer.status !== 204) assert.equal(body.error_code, 'unexpected_failure')
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('location'), null)
      assert.equal(log.length, 1)
      assert.match(log[0] ?? '', /request [\da-f-]{36} failed: .*\\n +at /)
    })
  }
  answerWith(json({ fine: true }))
  assert.equal((await send(url, '/answer')).body.fine, true)
})

test('with a fault in every response, errors and timeouts still get a response', async (t) => {
  const { url, stop, sabotageWith } = await openServer(t, '1s')
  sabotageWith((reply) => void reply.header('x-fault', '\u0100'))
  for (const [method, path] of [
    ['GET', '/answer'],
    ['GET', '/nowhere'],
    ['POST', '/answer'],
    ['HEAD', '/answer'],
    ['OPTIONS', '/answer'],
    ['GET', '/never'],
  ] as const) {
    const { status } = await send(url, path, { method })
    assert.equal(status, 500, `${method} ${path}`)
  }
  await stop()
})

test('a fault after the first bytes closes the connection', async (t) => {
  const { url, stop, sabotageWith } = await openServer(t, '60s')
  sabotageWith(({ raw }) => {
    raw.end = () => {
      raw.write('{')
      throw new Error('the rest is lost')
    }
  })
  const connection = await openRawConnection(t, url)
  connection.write('GET /answer HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.doesNotMatch(await connection.received, /\{\}/)
  await stop()
})

test('a response that stops halfway is ended by the request timeout', async (t) => {
  const { url, stop, sabotageWith } = await openServer(t, '1s')
  sabotageWith(({ raw }) => {
    raw.end = () => {
      raw.write('{')
      return raw
    }
  })
  const connection = await openRawConnection(t, url)
  connection.write('GET /answer HTTP/1.1\r\nhost: x\r\n\r\n')
  await connection.received
  await stop()
})
