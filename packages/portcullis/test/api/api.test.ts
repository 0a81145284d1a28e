import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import { SignJWT } from 'jose'

const program = join(import.meta.dirname, '../../../../examples/together/api.ts')

async function openKeyServer(t: TestContext, jwk: object): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('the standalone API verifies tokens with public keys, and allows requests without the rate limit service', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'first', alg: 'ES256' }
  const port = await findFreePort()
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env['PATH'],
      PORT: `${port}`,
      AUTH_URL: await openKeyServer(t, jwk),
      RATELIMIT_URL: `http://127.0.0.1:${await findFreePort()}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const firstOutput = once(child.stderr.setEncoding('utf8'), 'data')
  await once(child.stdout, 'data')
  const send = async (signer: typeof privateKey) => {
    const token = await new SignJWT({ email: 'ada@example.com' })
      .setProtectedHeader({ alg: 'ES256', kid: 'first' })
      .setSubject('ada')
      .setAudience('authenticated')
      .setExpirationTime('1h')
      .sign(signer)
    const answer = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: '{"query":"{ hello }"}',
    })
    return { status: answer.status, body: await answer.json() }
  }
  assert.deepEqual(await send(privateKey), {
    status: 200,
    body: { data: { hello: 'Hello, ada@example.com!' } },
  })
  const [output] = await firstOutput
  assert.match(output, /^The rate limit could not be checked: connect ECONNREFUSED .*\n/)
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  assert.equal((await send(other.privateKey)).status, 401)
})
