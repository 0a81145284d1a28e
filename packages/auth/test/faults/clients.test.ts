/**
 * @legs safety, endurance
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { enduranceOr } from '@portcullis/test-servers/endurance'
import { type CrashServer, readMemoryMb, startCrashServer } from '../support/crash-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { openRawConnection } from '../support/raw-connection.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

/** Each connection needs a file descriptor in this process and one in the server. */
const crowd = enduranceOr(5_000, 200)
const bodyLimitBytes = 1_048_576

/** Undefined where the system does not provide it. */
function countOpen({ pid }: CrashServer): number | undefined {
  return process.platform === 'linux' ? readdirSync(`/proc/${pid}/fd`).length : undefined
}

/** CPU seconds, which do not depend on how busy the machine is. */
function readCpuSeconds({ pid }: CrashServer): number {
  if (process.platform !== 'linux') return 0
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13).map(Number)
  return ((user ?? 0) + (system ?? 0)) / 100
}

async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Works in batches, because the backlog of a listener is limited. */
async function inBatches(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  const batch = 50
  for (let at = 0; at < count; at += batch) {
    await Promise.all(
      Array.from({ length: Math.min(batch, count - at) }, (_, more) => work(at + more)),
    )
  }
}

async function openLimitedServer(t: TestContext, maxRequestDuration: string) {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return undefined
  const server = await startCrashServer(t, {
    DATABASE_URL: postgres.url,
    AUTH_DB_NAMESPACE: `clients_${process.pid}`,
    AUTH_API_MAX_REQUEST_DURATION: maxRequestDuration,
    // A small heap reveals leaks soon; with more room the garbage collector would run later.
    NODE_OPTIONS: '--max-old-space-size=96',
  })
  const { url } = server
  const newToken = async (): Promise<string> => {
    const { body } = await send(url, '/signup', { body: { email: newEmail(), password } })
    return body.access_token
  }
  const token = await newToken()
  const serves = async () => {
    assert.equal((await send(url, '/user', { token })).status, 200)
    assert.equal(server.hasEnded(), false)
  }
  /** Waits until there are as many descriptors as before, except for a few pool connections. */
  const untilClosed = (before: number | undefined) =>
    until(() => (countOpen(server) ?? 0) <= (before ?? 0) + 10)
  return { server, url, token, newToken, serves, untilClosed }
}

const head = 'host: x\r\ncontent-type: application/json\r\n'

test('malicious clients', async (t) => {
  // The time limit must not affect served requests on a busy machine.
  const scene = await openLimitedServer(t, '120s')
  if (!scene) return
  const { server, url, token, newToken, serves, untilClosed } = scene

  await t.test(`${crowd} idle keep-alive connections`, async (t) => {
    await serves()
    const [memory, open] = [readMemoryMb(server.pid) ?? 0, countOpen(server)]
    const sockets: Socket[] = []
    t.after(() => {
      for (const socket of sockets) socket.destroy()
    })
    await inBatches(crowd, async () => {
      const socket = await openSocket(url)
      sockets.push(socket)
      socket.write('GET /.well-known/jwks.json HTTP/1.1\r\nhost: x\r\n\r\n')
      await once(socket, 'data')
    })
    assert.equal(sockets.filter(({ closed }) => closed).length, 0)
    await serves()
    const more = (readMemoryMb(server.pid) ?? 0) - memory
    t.diagnostic(`${crowd} idle connections: ${more.toFixed(1)} MB more`)
    // Most of the memory can be reused.
    assert.ok(more < 40 + crowd * 0.03, `${more} MB`)
    for (const socket of sockets) socket.destroy()
    await untilClosed(open)
    await serves()
  })

  await t.test('a body of the maximum size is read, and one byte more is refused', async () => {
    const toBody = (bytes: number) => {
      const start = '{"refresh_token":"x","padding":"'
      return `${start}${'x'.repeat(bytes - start.length - 2)}"}`
    }
    const post = (body: string) => send(url, '/token?grant_type=refresh_token', { body })
    const longest = await Promise.all(
      Array.from({ length: 10 }, () => post(toBody(bodyLimitBytes))),
    )
    for (const { status, body } of longest) {
      assert.deepEqual([status, body.error_code], [400, 'refresh_token_not_found'])
    }
    const { status, body } = await post(toBody(bodyLimitBytes + 1))
    assert.deepEqual([status, body.error_code], [413, 'request_entity_too_large'])
    // The limit also applies without a content length.
    const raw = await openRawConnection(t, url)
    raw.socket.on('error', () => {})
    const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`
    raw.write(`POST /signup HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\n`)
    for (let sent = 0; sent < 17; sent++) raw.write(chunk)
    const [first] = await once(raw.socket, 'data')
    assert.match(`${first}`, /^HTTP\/1\.1 413 /)
    await serves()
  })

  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const bodies: Readonly<Record<string, string>> = {
    '100,000 nested objects': `{"data":${deep(100_000)}}`,
    '400,000 nested lists': `${'['.repeat(400_000)}${']'.repeat(400_000)}`,
    'a list of 200,000 numbers': `{"data":{"a":[${'1,'.repeat(199_999)}1]}}`,
    '30,000 keys': `{"data":{${Array.from({ length: 30_000 }, (_, at) => `"k${at}":1`).join()}}}`,
    'the same key 100,000 times': `{"data":{${'"k":null,'.repeat(99_999)}"k":null}}`,
    'names on the prototype': `{"data":{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}}`,
    'a number of 500,000 digits': `{"data":{"n":${'9'.repeat(500_000)}}}`,
    '100,000 escapes': `{"data":{"e":"${'\\u0041'.repeat(100_000)}"}}`,
  }
  for (const [what, body] of Object.entries(bodies)) {
    await t.test(`${what} are handled within limits`, async (t) => {
      // A separate user is used, because stored metadata is part of every response.
      const own = await newToken()
      const before = readCpuSeconds(server)
      const answers = await Promise.all(
        Array.from({ length: 2 }, () => send(url, '/user', { method: 'PUT', token: own, body })),
      )
      const seconds = (readCpuSeconds(server) - before) / answers.length
      t.diagnostic(`${answers[0]?.status}, ${(seconds * 1_000).toFixed(0)} ms on a core each`)
      for (const { status } of answers) assert.ok([200, 400, 422].includes(status), `${status}`)
      assert.ok(seconds < 2, `${seconds} s`)
      await serves()
    })
  }

  await t.test(`${2 * crowd} abandoned requests are cleaned up`, async (t) => {
    const full = `PUT /user HTTP/1.1\r\n${head}authorization: Bearer ${token}\r\ncontent-length: 11\r\n\r\n{"data":{}}`
    const partial = [
      '',
      'GET /user HT',
      `POST /otp HTTP/1.1\r\n${head}`,
      `POST /signup HTTP/1.1\r\n${head}content-length: 100\r\n\r\n{"email":`,
      full,
      `GET /user HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`,
    ]
    const leave = async (at: number) => {
      const socket = await openSocket(url)
      socket.write(partial[at % partial.length] ?? '')
      await sleep(at % 3)
      if (at % 2 === 0) socket.destroy()
      else socket.resetAndDestroy()
    }
    // The first requests make the process grow once, so some are sent beforehand.
    await inBatches(100, leave)
    await serves()
    const [memory, open] = [readMemoryMb(server.pid) ?? 0, countOpen(server)]
    await inBatches(2 * crowd, leave)
    await untilClosed(open)
    await serves()
    const more = (readMemoryMb(server.pid) ?? 0) - memory
    t.diagnostic(`${more.toFixed(1)} MB more`)
    assert.ok(more < 100, `${more} MB`)
    assert.doesNotMatch(server.output(), /unhandled|uncaught|"level":"fatal"|\n\s+at /i)
  })
})

test('requests that arrive byte by byte are cut off, and others are served', async (t) => {
  const scene = await openLimitedServer(t, '10s')
  if (!scene) return
  const { server, url, serves, untilClosed } = scene
  const open = countOpen(server)
  const dribble = async (parts: readonly string[]) => {
    const { socket, received } = await openRawConnection(t, url)
    socket.on('error', () => {})
    for (const part of parts) {
      if (socket.destroyed || socket.readableEnded) break
      socket.write(part)
      await sleep(100)
    }
    // A byte sent after the server has closed the connection resets it, and the response may be
    // lost.
    return await received.catch(() => 'reset')
  }
  const endless = `GET /settings HTTP/1.1\r\nhost: x\r\nx-slow: ${'a'.repeat(10_000)}`
  const body = `POST /otp HTTP/1.1\r\n${head}content-length: 10000\r\n\r\n`
  const heads = Array.from({ length: 20 }, () => dribble([...endless]))
  // The headers are sent at once; a slow body is refused only after the request timeout.
  const rest = Array.from({ length: 20 }, () => dribble([body, ...' '.repeat(10_000)]))
  for (let times = 0; times < 5; times++) await serves()
  for (const answer of await Promise.all(heads)) assert.match(answer, /^(HTTP\/1\.1 408 |reset$)/)
  for (const answer of await Promise.all(rest)) assert.match(answer, /^(HTTP\/1\.1 504 |reset$)/)
  await serves()
  await untilClosed(open)
})
