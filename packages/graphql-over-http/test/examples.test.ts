import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { findFreePort } from '@portcullis/test-servers'
import { handler as lambdaHandler } from '../../../examples/graphql/aws-lambda.ts'
import { handler as netlifyHandler } from '../../../examples/graphql/netlify.ts'
import { openClientServer, sendJson } from './support/client-server.ts'
import { openHttp2Fetch } from './support/hosts/http2-fetch.ts'
import {
  type Command,
  type Environment,
  root,
  runProgram,
  startProgram,
} from './support/program.ts'
import { runtime } from './support/runtimes.ts'

const folder = join(root, 'examples/graphql')
const node = (file: string): Command => [process.execPath, join(folder, file)]

interface Open {
  readonly url: string
  readonly port: number
}

async function start(t: TestContext, command: Command, env: Environment = {}): Promise<Open> {
  const port = await findFreePort()
  const ready = /Listening on (\S+)/
  const { output } = await startProgram(t, command, {
    env: { PORT: String(port), ...env },
    isReady: (text) => ready.test(text),
  })
  const url = ready.exec(output())?.[1] ?? ''
  assert.equal(url.replace(/^https?/, ''), `://localhost:${port}/graphql`)
  return { url, port }
}

const post = (body: unknown, headers = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/**
 * Checks what every host must do: queries by POST and GET, 405 from the handler, 404 from the host.
 */
async function assertServes(url: string, send = fetch): Promise<void> {
  const variables = { name: 'Zoë 🌍' }
  const query = 'query ($name: String) { hello(name: $name) }'
  const posted = await send(url, post({ query, variables }))
  assert.equal(posted.status, 200)
  assert.deepEqual(await posted.json(), { data: { hello: 'Hello, Zoë 🌍!' } })

  const search = new URLSearchParams({ query, variables: JSON.stringify(variables) })
  const got = await send(`${url}?${search}`)
  assert.equal(got.status, 200)
  assert.deepEqual(await got.json(), { data: { hello: 'Hello, Zoë 🌍!' } })

  const put = await send(url, { method: 'PUT' })
  assert.equal(put.status, 405)
  await put.text()
  await assertElsewhereIs404(url, send)
}

async function assertElsewhereIs404(url: string, send = fetch): Promise<void> {
  for (const path of ['/', '/graphqlx', '/other/graphql?query={hello}']) {
    const response = await send(new URL(path, url).href)
    assert.equal(response.status, 404, path)
    await response.text()
  }
}

/** Examples that need another runtime. UWS_MODULE replaces the module name of uWebSockets. */
const otherRuntimes: {
  readonly [file: string]: () => { readonly command: Command; readonly env?: Environment }
} = {
  'fetch-deno.ts': () => ({
    command: [
      runtime('deno'),
      'run',
      '--no-remote',
      '--no-lock',
      '--allow-net',
      '--allow-env',
      join(folder, 'fetch-deno.ts'),
    ],
  }),
  'fetch-bun.ts': () => ({ command: [runtime('bun'), join(folder, 'fetch-bun.ts')] }),
  'uws.ts': () => ({
    command: [runtime('node22'), join(folder, 'uws.ts')],
    env: { UWS_MODULE: join(runtime('uws-pack'), 'dist/index.mjs') },
  }),
}

/** Examples that do not serve the whole schema; each has its own test below. */
const recipes = [
  'auth-context.ts',
  'auth-early.ts',
  'aws-lambda.ts',
  'client-headers.ts',
  'client-observable.ts',
  'client-promise.ts',
  'client-retry.ts',
  'http2.ts',
  'netlify.ts',
  'stored-documents.ts',
]
const supporting = ['schema.ts', 'self-signed.ts', 'users.ts']

const files = readdirSync(folder).filter((name) => name.endsWith('.ts'))
const hosts = files.filter((file) => ![...recipes, ...supporting].includes(file))

test('every example fits on a screen', async () => {
  for (const file of files) {
    const lines = readFileSync(join(folder, file), 'utf8').trimEnd().split('\n')
    assert.ok(lines.length <= 40, `${file} has ${lines.length} lines`)
  }
})

describe('the example for each host', { concurrency: 3 }, () => {
  for (const file of hosts) {
    test(`${file} answers at /graphql and with 404 elsewhere`, async (t) => {
      const { command, env } = otherRuntimes[file]?.() ?? { command: node(file) }
      const { url } = await start(t, command, env)
      await assertServes(url)
    })
  }

  test('http2.ts serves HTTP/2 with a certificate made for localhost', async (t) => {
    const { url, port } = await start(t, node('http2.ts'))
    const client = openHttp2Fetch(new URL(url).origin, await readCertificate(port))
    t.after(() => client.close())
    await assertServes(url, client.fetch)
    assert.equal(client.session.alpnProtocol, 'h2')
  })

  test('netlify.ts answers an event', async () => {
    const event = {
      httpMethod: 'POST',
      rawUrl: 'https://site.example/.netlify/functions/graphql',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ hello }' }),
      isBase64Encoded: false,
    }
    const { statusCode, body } = await netlifyHandler(event, functionContext)
    assert.deepEqual([statusCode, body], [200, '{"data":{"hello":"Hello, world!"}}'])
  })

  test('aws-lambda.ts answers an event', async () => {
    const event = {
      rawPath: '/graphql',
      rawQueryString: `query=${encodeURIComponent('{ hello }')}`,
      headers: {},
      requestContext: { http: { method: 'GET' } },
      isBase64Encoded: false,
    }
    const { statusCode, body } = await lambdaHandler(event, functionContext)
    assert.deepEqual([statusCode, body], [200, '{"data":{"hello":"Hello, world!"}}'])
  })
})

const functionContext = {
  functionName: 'graphql',
  awsRequestId: '1',
  getRemainingTimeInMillis: () => 1000,
}

/** The server's certificate, to be trusted from now on; names and dates are still checked. */
async function readCertificate(port: number): Promise<Buffer> {
  const socket = connect({ port, host: 'localhost', rejectUnauthorized: false })
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  const text = socket.getPeerX509Certificate()?.toString() ?? ''
  socket.destroy()
  return Buffer.from(text)
}

describe('the authentication recipes', { concurrency: 2 }, () => {
  // The early check runs before anything else; `context` is called after the document is parsed.
  const statusOfNonsense = { 'auth-early.ts': 401, 'auth-context.ts': 200 }
  for (const [file, status] of Object.entries(statusOfNonsense)) {
    test(`${file} answers 401 without a credential and passes the user to resolvers`, async (t) => {
      const { url, port } = await start(t, node(file))
      const viewer = { query: '{ viewer }' }

      const refused = await fetch(url, post(viewer))
      assert.equal(refused.status, 401)
      assert.equal(refused.statusText, 'Unauthorized')
      assert.equal(await refused.text(), '')
      const wrong = await fetch(url, post(viewer, { authorization: 'Bearer guess' }))
      assert.equal(wrong.status, 401)
      await wrong.text()
      const nonsense = await fetch(url, post({ query: '{' }))
      assert.equal(nonsense.status, status)
      await nonsense.text()

      const welcome = await fetch(url, post(viewer, { authorization: 'Bearer letmein' }))
      assert.deepEqual(await welcome.json(), { data: { viewer: 'ada' } })
      await assertElsewhereIs404(url)

      const env = { PORT: String(port) }
      const [signedIn, signedOut] = await Promise.all([
        runProgram(node('client-headers.ts'), { ...env, TOKEN: 'letmein' }),
        runProgram(node('client-headers.ts'), { ...env, TOKEN: '' }),
      ])
      assert.deepEqual([signedIn.code, signedIn.stdout], [0, '{"data":{"viewer":"ada"}}\n'])
      assert.deepEqual(
        [signedOut.code, signedOut.stderr],
        [1, 'Server responded with 401: Unauthorized\n'],
      )
    })
  }
})

describe('the recipes for parameters', { concurrency: 2 }, () => {
  test('parse-request-params.ts refuses batches and reads variables from text', async (t) => {
    const { url } = await start(t, node('parse-request-params.ts'))
    const batch = await fetch(url, post([{ query: '{ hello }' }]))
    assert.equal(batch.status, 400)
    assert.match(await batch.text(), /Batches are not supported/)

    const query = 'query ($name: String) { hello(name: $name) }'
    const text = await fetch(url, post({ query, variables: '{"name":"Ada"}' }))
    assert.deepEqual(await text.json(), { data: { hello: 'Hello, Ada!' } })

    for (const variables of ['[1]', '{', '"text"']) {
      const response = await fetch(url, post({ query, variables }))
      assert.equal(response.status, 400, variables)
      await response.text()
    }
    const form = await fetch(url, { method: 'POST', body: new URLSearchParams({ query }) })
    assert.equal(form.status, 415)
    await form.text()
  })

  test('stored-documents.ts runs the documents it knows and no others', async (t) => {
    const { url } = await start(t, node('stored-documents.ts'))
    const known = await fetch(url, post({ query: 'greet', variables: { name: 'Ada' } }))
    assert.deepEqual(await known.json(), { data: { hello: 'Hello, Ada!' } })
    const unknown = await fetch(url, post({ query: '{ hello }' }))
    assert.equal(unknown.status, 404)
    await unknown.text()
    const unsafe = await fetch(`${url}?query=shout`)
    assert.equal(unsafe.status, 405)
    await unsafe.text()
  })
})

describe('the client recipes', { concurrency: 4 }, () => {
  test('client-promise.ts and client-observable.ts print the result', async (t) => {
    const { port } = await start(t, node('http.ts'))
    const env = { PORT: String(port) }
    const promise = await runProgram(node('client-promise.ts'), env)
    assert.equal(promise.stdout, 'Hello, world!\nThe request was cancelled\n', promise.stderr)
    const observable = await runProgram(node('client-observable.ts'), env)
    assert.equal(observable.stdout, 'Hello, world!\ncomplete\n', observable.stderr)
  })

  const retry = async (t: TestContext, statuses: readonly number[]) => {
    const times: number[] = []
    const server = await openClientServer(t, (res, _request, index) => {
      times.push(performance.now())
      sendJson(res, { data: { hello: 'at last' } }, { status: statuses[index] ?? 200 })
    })
    const ended = await runProgram(node('client-retry.ts'), { PORT: new URL(server.url).port })
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    return { ended, waits }
  }

  test('client-retry.ts tries again a second after a 503', async (t) => {
    const { ended, waits } = await retry(t, [503])
    assert.deepEqual([ended.code, ended.stdout], [0, '{"data":{"hello":"at last"}}\n'])
    assert.equal(waits.length, 1)
    assert.ok(waits.every((wait) => wait > 990))
  })

  test('client-retry.ts stops after three retries', async (t) => {
    const { ended, waits } = await retry(t, [503, 503, 503, 503, 503])
    assert.deepEqual(
      [ended.code, ended.stderr],
      [1, 'Server responded with 503: Service Unavailable\n'],
    )
    assert.equal(waits.length, 3)
    assert.ok(waits.every((wait) => wait > 990))
  })

  test('client-retry.ts does not retry permanent failures', async (t) => {
    const { ended, waits } = await retry(t, [500])
    assert.deepEqual([ended.code, waits.length], [1, 0])
  })
})
