import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient, postJson } from '../support/service-client.ts'
import { type RunningService, readMegabytes, startService } from '../support/service-process.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: hour, requests_per_unit: 9 } }]\n'
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** Sends the bytes and closes the connection, whatever the response. */
async function sendAndClose(port: number, bytes: Uint8Array): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => {}).resume()
  socket.write(bytes)
  await Promise.race([closed, wait(randomInt(30))])
  socket.destroy()
  await closed
}

/** Uses forty connections at a time. */
async function sendAndCloseMany(
  port: number,
  count: number,
  toBytes: () => Uint8Array,
): Promise<void> {
  const hurlInTurn = async () => {
    for (let at = 0; at < count / 40; at += 1) await sendAndClose(port, toBytes())
  }
  await Promise.all(Array.from({ length: 40 }, hurlInTurn))
}

/** An HTTP/2 frame with a plausible header and random content. */
function toFrame(): Buffer {
  const body = randomBytes(randomInt(200))
  const head = Buffer.alloc(9)
  head.writeUIntBE(randomInt(4) === 0 ? randomInt(2 ** 24) : body.length, 0, 3)
  head.writeUInt8(randomInt(12), 3)
  head.writeUInt8(randomInt(256), 4)
  head.writeUInt32BE(randomInt(8), 5)
  return Buffer.concat([head, body])
}

const portOf = (url: string) => Number(url.slice(url.lastIndexOf(':') + 1))

async function assertLives(t: TestContext, service: RunningService): Promise<void> {
  const { decide, close } = await openDecisionClient(t, service)
  const { overallCode } = await decide(requestFor('d', descriptor('k=v', { hitsAddend: 0 })))
  assert.equal(overallCode, 1)
  await close()
  assert.equal((await fetch(`${service.httpUrl}/healthcheck`)).status, 200)
  assert.equal((await fetch(`${service.debugUrl}/stats`)).status, 200)
  assert.equal(service.hasEnded, false)
}

/** JSON that is small but expensive to parse. */
const bombs: Readonly<Record<string, () => string>> = {
  'a million brackets': () => '['.repeat(1_000_000),
  'a hundred thousand nested objects': () => '{"domain":'.repeat(100_000),
  'a list of half a million lists': () => `{"descriptors":[${'[],'.repeat(340_000)}[]]}`,
  'a list of a quarter of a million nulls': () =>
    `{"domain":"d","descriptors":[${'{},'.repeat(250_000)}{}]}`,
  'a hundred thousand members': () =>
    `{${Array.from({ length: 100_000 }, (_, index) => `"m${index}":1`).join()}}`,
  'a number of a million digits': () => `{"hitsAddend":${'9'.repeat(1_000_000)}}`,
  'a string of a million digits instead of a number': () =>
    `{"domain":"d","descriptors":[{"hitsAddend":"${'9'.repeat(1_000_000)}"}]}`,
  'a number with an exponent': () => '{"domain":"d","hitsAddend":1e308}',
  'a text of escapes': () => `{"domain":"${'\\u0000'.repeat(150_000)}"}`,
}

test('any bytes on any port leave the service unaffected', async (t) => {
  const service = await startService(t, { rules })
  const ports = [service.grpcAddress, service.httpUrl, service.debugUrl].map(portOf)
  const before = await readMegabytes(service)
  const kinds: Readonly<Record<string, () => Uint8Array>> = {
    'random bytes': () => randomBytes(randomInt(1, 4_096)),
    'the HTTP/2 preface and random bytes': () =>
      Buffer.concat([preface, randomBytes(randomInt(1, 1_024))]),
    'HTTP/2 frames of every kind': () =>
      Buffer.concat([
        preface,
        Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0),
        ...Array.from({ length: 20 }, toFrame),
      ]),
    'HTTP/1 with random headers': () =>
      Buffer.concat([
        Buffer.from('POST /json HTTP/1.1\r\n'),
        randomBytes(randomInt(1, 2_048)),
        Buffer.from('\r\n\r\n'),
      ]),
    'HTTP/1 that promises more than it sends': () =>
      Buffer.from('POST /json HTTP/1.1\r\nhost: h\r\ncontent-length: 1000000\r\n\r\n{"domain":'),
  }
  for (const [what, toBytes] of Object.entries(kinds)) {
    await t.test(what, async (t) => {
      for (const port of ports) await sendAndCloseMany(port, 80, toBytes)
      await assertLives(t, service)
    })
  }
  await t.test('and use no additional memory', async () => {
    const growth = (await readMegabytes(service)) - before
    assert.ok(growth < 200, `${Math.round(growth)} MB more`)
  })
  await t.test('and do not fill the log', () => {
    assert.ok(service.log.length < 1_000_000, `${service.log.length} characters`)
    assert.doesNotMatch(service.log, /^\s+at /m)
  })
  for (const [what, toText] of Object.entries(bombs)) {
    await t.test(`${what} as JSON gets a response, and the service keeps running`, async (t) => {
      const { status } = await postJson(service, toText())
      assert.ok([200, 400, 413].includes(status), `status ${status}`)
      await assertLives(t, service)
    })
  }
  assert.ok((await readMegabytes(service)) < 600)
})
