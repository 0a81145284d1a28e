import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { provideOrSkip } from '@portcullis/test-servers'
import { openAuthority } from '../support/certificates.ts'
import { openEchoServer } from '../support/echo-server.ts'
import { grpcMessage } from '../support/raw-client.ts'
import { findProgram } from './programs.ts'

const run = promisify(execFile)

const SAY = '/test.Echo/Say'

const grpcHeaders = ['-H', 'content-type: application/grpc', '-H', 'te: trailers']

/** Writes the body of a request to a file, as these programs require. */
async function writeBody(t: TestContext, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'grpc-unary-interop-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'body')
  await writeFile(file, grpcMessage(text))
  return file
}

test('nghttp makes a call and receives headers, message and trailers', async (t) => {
  const nghttp = await provideOrSkip(t, 'nghttp')
  if (nghttp === undefined) return
  const { port } = await openEchoServer(t)
  const body = await writeBody(t, 'hello nghttp')
  const url = `http://127.0.0.1:${port}${SAY}`
  const { stdout } = await run(nghttp, ['-v', '--no-dep', '-d', body, ...grpcHeaders, url])
  assert.match(stdout, /:status: 200/)
  assert.match(stdout, /hello nghttp/)
  assert.match(stdout, /grpc-status: 0/)
  assert.doesNotMatch(stdout, /PROTOCOL_ERROR|COMPRESSION_ERROR|FLOW_CONTROL_ERROR/)
})

test('nghttp works with its old priority tree, padding and CONTINUATION frames', async (t) => {
  const nghttp = await provideOrSkip(t, 'nghttp')
  if (nghttp === undefined) return
  // It sends 24 KB of headers, so that CONTINUATION frames are needed.
  const { port } = await openEchoServer(t, { limits: { headerListBytes: 65_536 } })
  const body = await writeBody(t, 'x'.repeat(200_000))
  const url = `http://127.0.0.1:${port}${SAY}`
  const args = ['-v', '-b', '64', '--continuation', '-w', '10', '-W', '12', '-m', '5']
  const { stdout } = await run(nghttp, [...args, '-d', body, ...grpcHeaders, url], {
    maxBuffer: 2 ** 26,
  })
  assert.equal(stdout.match(/grpc-status: 0/g)?.length, 5)
  assert.doesNotMatch(stdout, /send GOAWAY.*\n.*error_code=(?!NO_ERROR)/)
})

for (const [title, connections, streams] of [
  ['8 connections of 64 streams', '8', '64'],
  ['1 connection of 100 streams', '1', '100'],
  ['20 connections of 1 stream', '20', '1'],
] as const) {
  test(`h2load gets every response on ${title}`, async (t) => {
    const h2load = await provideOrSkip(t, 'h2load')
    if (h2load === undefined) return
    const { port } = await openEchoServer(t)
    const body = await writeBody(t, 'hello h2load')
    const load = ['-n', '4000', '-c', connections, '-m', streams, '-d', body, ...grpcHeaders]
    const { stdout } = await run(h2load, [...load, `http://127.0.0.1:${port}${SAY}`])
    assert.match(stdout, /4000 succeeded, 0 failed, 0 errored, 0 timeout/)
    assert.match(stdout, /status codes: 4000 2xx/)
  })
}

test('h2load gets every response over TLS', async (t) => {
  const h2load = await provideOrSkip(t, 'h2load')
  if (h2load === undefined) return
  const authority = openAuthority()
  const { port } = await openEchoServer(t, { tls: authority.sign('localhost') })
  const body = await writeBody(t, 'hello h2load')
  const load = ['-n', '2000', '-c', '4', '-m', '32', '-d', body, ...grpcHeaders]
  const { stdout } = await run(h2load, [...load, `https://localhost:${port}/test.Echo/Later`])
  assert.match(stdout, /2000 succeeded, 0 failed, 0 errored, 0 timeout/)
  assert.match(stdout, /Application protocol: h2/)
})

const curlHasHttp2 =
  findProgram('curl') && (await run('curl', ['--version'])).stdout.includes('HTTP2')
const needsCurl = { skip: curlHasHttp2 ? false : 'curl with HTTP2 is not installed' }

test('curl makes a call, and other requests get an HTTP error', needsCurl, async (t) => {
  const { port } = await openEchoServer(t)
  const body = await writeBody(t, 'hello curl')
  const curl = async (...args: string[]) =>
    await run('curl', ['-sS', '--http2-prior-knowledge', ...args], { encoding: 'buffer' })
  const url = `http://127.0.0.1:${port}`
  const answer = await curl('--data-binary', `@${body}`, ...grpcHeaders, `${url}${SAY}`)
  assert.deepEqual(answer.stdout, grpcMessage('hello curl'))
  assert.match(String((await curl('-i', url)).stdout), /^HTTP\/2 405[\s\S]*gRPC calls use POST/)
  assert.match(String((await curl('-I', url)).stdout), /^HTTP\/2 405[\s\S]*allow: POST/)
})

test('curl over TLS negotiates h2', needsCurl, async (t) => {
  const authority = openAuthority()
  const { port } = await openEchoServer(t, { tls: authority.sign('localhost') })
  const body = await writeBody(t, 'x'.repeat(100_000))
  const args = ['-sSk', '--http2', '--data-binary', `@${body}`, ...grpcHeaders]
  const { stdout } = await run('curl', [...args, `https://localhost:${port}${SAY}`], {
    encoding: 'buffer',
  })
  assert.deepEqual(stdout, grpcMessage('x'.repeat(100_000)))
})

test('curl that tries to upgrade from HTTP/1.1 is refused immediately', needsCurl, async (t) => {
  const { port } = await openEchoServer(t)
  await assert.rejects(run('curl', ['-sS', '--http2', `http://127.0.0.1:${port}/`]))
})
