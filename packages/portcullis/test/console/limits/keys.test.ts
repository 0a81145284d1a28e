import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import { openConsole } from '../../../src/console/console.ts'
import type { CounterState, HistoryState } from '../../../src/console/routes/limits-keys.ts'

const token = 'let-me-in'
const debugToken = 'sesame'

interface Reply {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** Opens a console for a debug port that gives these answers. */
async function openExample(t: TestContext, reply: (request: IncomingMessage) => Reply) {
  const requests: string[] = []
  const debug = createServer((request, response) => {
    const { status, type, text } = reply(request)
    if (!request.url?.startsWith('/stats')) requests.push(`${request.method} ${request.url}`)
    response.writeHead(status, { 'content-type': type }).end(text)
  })
  await new Promise<void>((listening) => debug.listen(0, '127.0.0.1', listening))
  const address = debug.address()
  const debugUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const settings = { host: '127.0.0.1', port: 0, token, version: '0' }
  const running = await openConsole({ ...settings, ratelimit: { debugUrl, debugToken } })
  t.after(async () => {
    await running[Symbol.asyncDispose]()
    debug.closeAllConnections()
    debug.close()
  })
  const entry = await fetch(running.entryUrl, { redirect: 'manual' })
  const cookie = entry.headers.get('set-cookie')?.split(';')[0] ?? ''
  const call = async (
    path: string,
    body?: unknown,
    headers: Record<string, string> = { cookie },
  ) => {
    const answer = await fetch(`${running.url}/api/limits/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'x-portcullis-console': '1',
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: JSON.parse(await answer.text()) }
  }
  return { requests, call, url: running.url, cookie }
}

const json = (status: number, value: unknown): Reply => ({
  status,
  type: 'application/json',
  text: JSON.stringify(value),
})
const target = { domain: 'shop', entries: [{ key: 'user', value: 'a&b=c' }] }
const query = 'domain=shop&key=user&value=a%26b%3Dc'

test('a counter is read and reset with the token of the service', async (t) => {
  const { requests, call } = await openExample(t, ({ headers }) =>
    headers.authorization === `Bearer ${debugToken}`
      ? json(200, { hits: 3 } satisfies Partial<CounterState>)
      : { status: 403, type: 'text/plain', text: 'no' },
  )
  assert.deepEqual(await call('counter', target), { status: 200, body: { hits: 3 } })
  assert.equal((await call('counter/reset', target)).status, 200)
  assert.deepEqual(
    requests.filter((each) => each.includes('counter')),
    [`GET /counter?${query}`, `POST /counter/reset?${query}`],
  )
})

test('without access to the console nothing is reset', async (t) => {
  const { requests, call, cookie } = await openExample(t, () => json(200, {}))
  assert.equal((await call('counter/reset', target, {})).status, 401)
  const foreign = { cookie, origin: 'https://evil.example', 'x-portcullis-console': '' }
  assert.equal((await call('counter/reset', target, foreign)).status, 403)
  assert.deepEqual(
    requests.filter((each) => each.includes('counter')),
    [],
  )
})

test('the errors of the service are shown, and what is missing is explained', async (t) => {
  let reply: Reply = json(404, { error: 'No rule limits this descriptor, so it has no counter.' })
  const { call } = await openExample(t, () => reply)
  const messageOf = async () => {
    const { status, body } = await call('counter', target)
    return `${status} ${body.error.message}`
  }
  assert.equal(await messageOf(), '404 No rule limits this descriptor, so it has no counter.')
  reply = json(503, { error: 'The store failed: timeout' })
  assert.equal(await messageOf(), '502 The store failed: timeout')
  reply = { status: 403, type: 'text/plain', text: 'no' }
  assert.match(await messageOf(), /^502 .*Set PORTCULLIS_DEBUG_TOKEN to the value of DEBUG_TOKEN/)
  // envoyproxy/ratelimit answers unknown paths with a list of its pages.
  reply = { status: 200, type: 'text/plain', text: '/rlconfig: …' }
  assert.match(
    await messageOf(),
    /^502 The rate limit service does not show its keys: its debug port has no pages/,
  )
})

test('invalid bodies and ranges are refused', async (t) => {
  const { call } = await openExample(t, () => json(200, {}))
  for (const body of [{}, { domain: '', entries: [] }, { ...target, entries: [{ key: 'a' }] }]) {
    assert.equal((await call('counter', body)).status, 400)
  }
  assert.equal((await call('history?rule=d.user&range=1y')).status, 400)
  assert.equal((await call('history')).status, 400)
  const { status, body } = await call('history?rule=d.user&range=7d')
  const history: HistoryState = body
  assert.deepEqual([status, history.points.length, history.sums.total], [200, 168, 0])
})

test('both lists are sent as events, and so is the reason if they cannot be read', async (t) => {
  let isDisabled = false
  const { url, cookie } = await openExample(t, ({ url: path = '' }) => {
    if (isDisabled) return json(404, { error: 'The list is disabled (TOP_KEYS_SIZE=0).' })
    const by = new URLSearchParams(path.slice(path.indexOf('?'))).get('by')
    return json(200, { by, keys: [] })
  })
  const readEvent = async (name: string) => {
    const answer = await fetch(`${url}/api/limits/top`, { headers: { cookie } })
    let text = ''
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString()
      const [, data] = new RegExp(`event: ${name}\\ndata: (.*)\\n\\n`).exec(text) ?? []
      // Leaving the loop closes the stream.
      if (data !== undefined) return JSON.parse(data)
    }
  }
  const { limited, calls } = await readEvent('top')
  assert.deepEqual([limited.by, calls.by], ['limited', 'calls'])
  isDisabled = true
  assert.match((await readEvent('failure')).message, /TOP_KEYS_SIZE=0/)
})
