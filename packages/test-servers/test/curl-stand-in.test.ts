import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { provideStandIn } from '../src/programs/provide-curl.ts'

const execute = promisify(execFile)

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A server that records its requests; it redirects /from to /to with a cookie. */
async function openServer(t: TestContext) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request
    seen.push({ method, url, headers, body: await text(request) })
    if (url === '/from') {
      response.writeHead(303, { location: '/to', 'set-cookie': 'key=value; HttpOnly' }).end()
    } else if (url === '/refused') {
      response.writeHead(429, { 'Retry-After': '7' }).end('no')
    } else response.end(`answer to ${url}\n`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function curl(...args: readonly string[]) {
  const program = join(await provideStandIn(), 'curl')
  try {
    return { code: 0, ...(await execute(program, args)) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

test('data is sent as a POST with a form, unless a header sets the content type', async (t) => {
  const { seen, url } = await openServer(t)
  assert.equal((await curl('-s', '-d', 'a=b', `${url}/x`)).stdout, 'answer to /x\n')
  await curl('-sS', '-H', 'content-type: application/json', '-H', 'X-Key: k', '-d', '{}', url)
  assert.equal(seen[0]?.method, 'POST')
  assert.equal(seen[0]?.body, 'a=b')
  assert.equal(seen[0]?.headers['content-type'], 'application/x-www-form-urlencoded')
  assert.equal(seen[1]?.headers['content-type'], 'application/json')
  assert.equal(seen[1]?.headers['x-key'], 'k')
})

test('a redirect is followed with the cookies it set', async (t) => {
  const { seen, url } = await openServer(t)
  assert.equal((await curl('-sL', '-b', '', `${url}/from`)).stdout, 'answer to /to\n')
  assert.equal(seen[1]?.method, 'GET')
  assert.equal(seen[1]?.headers.cookie, 'key=value')
  assert.equal((await curl('-s', `${url}/from`)).stdout, '')
  assert.equal(seen.length, 3)
})

test('a range in the address makes one call after the other', async (t) => {
  const { seen, url } = await openServer(t)
  const { stdout } = await curl('-s', '-o', '/dev/null', '-w', '%{http_code}\\n', `${url}/?n=[1-3]`)
  assert.equal(stdout, '200\n200\n200\n')
  assert.deepEqual(
    seen.map((one) => one.url),
    ['/?n=1', '/?n=2', '/?n=3'],
  )
})

test('a refusal is shown with its headers, or fails the command', async (t) => {
  const { url } = await openServer(t)
  const shown = await curl('-s', '-i', `${url}/refused`)
  assert.match(
    shown.stdout,
    /^HTTP\/1\.1 429 Too Many Requests\r\nRetry-After: 7\r\n.*\r\n\r\nno$/s,
  )
  const failed = await curl('-sS', '--fail', `${url}/refused`)
  assert.equal(failed.code, 22)
  assert.equal(failed.stdout, '')
  assert.equal(failed.stderr, 'curl: (22) The requested URL returned error: 429\n')
})

test('an unknown option and a closed port are errors', async () => {
  assert.deepEqual(await curl('--compressed', 'http://127.0.0.1:1/'), {
    code: 2,
    stdout: '',
    stderr: 'curl: (2) the substitute does not support --compressed\n',
  })
  const refused = await curl('-s', 'http://127.0.0.1:1/')
  assert.equal(refused.code, 7)
})
