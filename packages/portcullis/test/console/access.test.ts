import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openConsole, type RunningConsole } from '../../src/console/console.ts'
import { mostStreams } from '../../src/console/event-stream.ts'
import { callRaw, type RawOptions } from '../support/raw-call.ts'

const token = 'the-right-token-of-this-console'
let running: RunningConsole
let cookie = ''

before(async () => {
  running = await openConsole({
    host: '127.0.0.1',
    port: 0,
    token,
    version: '1.2.3',
    allowedHosts: ['Console.Example.com'],
  })
  const { headers } = await call(`/?token=${token}`)
  cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
})
after(() => running[Symbol.asyncDispose]())

const call = (target: string, options?: RawOptions) => callRaw(running.url, target, options)
const callInside = (target: string, { method, headers }: RawOptions = {}) =>
  call(target, { ...(method && { method }), headers: { cookie, ...headers } })

const page = { accept: 'text/html,*/*' }
const ownScript = { 'x-portcullis-console': '1', 'sec-fetch-site': 'same-origin' }
const visitFrom = (site: string) => ({
  ...page,
  'sec-fetch-site': site,
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
})

test('the token is moved from the URL to an HttpOnly cookie', async () => {
  const answer = await call(`/users?q=ada&token=${token}`)
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.get('location'), '/users?q=ada')
  assert.match(
    answer.headers.get('set-cookie') ?? '',
    /^portcullis_[0-9a-f]{8}=the-right.*; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
  )
  assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
  assert.equal((await callInside('/api/session')).status, 200)
})

test('signing out deletes the cookie, and only a script of the console can do it', async () => {
  const answer = await callInside('/api/session', { method: 'DELETE', headers: ownScript })
  assert.equal(answer.status, 204)
  const name = cookie.split('=')[0]
  const deleted = `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`
  assert.equal(answer.headers.get('set-cookie'), deleted)
  const foreign = await callInside('/api/session', { method: 'DELETE' })
  assert.deepEqual([foreign.status, foreign.headers.get('set-cookie')], [403, null])
  const anonymous = await call('/api/session', { method: 'DELETE', headers: ownScript })
  assert.deepEqual([anonymous.status, anonymous.headers.get('set-cookie')], [401, null])
})

test('wrong tokens are refused regardless of their length, and only GET accepts the token', async () => {
  const guesses = ['', 'x', token.slice(1), `${token}x`, token.toUpperCase(), `%20${token}`]
  for (const guess of guesses) {
    const answer = await call(`/?token=${guess}`)
    assert.equal(answer.status, 401, guess)
    assert.equal(answer.headers.get('set-cookie'), null)
  }
  assert.equal((await call(`/?token=${token}`, { method: 'HEAD' })).status, 401)
  const name = cookie.split('=')[0]
  for (const wrong of [`${name}=`, `${name}=${token}x`, `other=${token}`, `x${cookie}`]) {
    assert.equal((await call('/api/session', { headers: { cookie: wrong } })).status, 401, wrong)
  }
})

test('the entry URL never redirects to another host', async () => {
  for (const path of [
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '///evil.example/',
  ]) {
    const { status, headers } = await call(`${path}?token=${token}`)
    assert.equal(status, 303, path)
    assert.match(headers.get('location') ?? '', /^\/(?![/\\])/, path)
  }
})

test('a browser revalidates the page, but not files with a content hash in their name', async () => {
  const script = await callInside('/assets/app.js')
  const [, chunk = ''] = /"\.\/([\w-]+-[A-Z\d]{8}\.js)"/.exec(script.body) ?? []
  assert.match(
    (await callInside(`/assets/${chunk}`)).headers.get('cache-control') ?? '',
    /immutable/,
  )
  for (const path of ['/', '/assets/app.js', '/assets/style.css']) {
    const { headers } = await callInside(path)
    assert.equal(headers.get('cache-control'), 'no-cache', path)
    const again = await callInside(path, {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    })
    assert.equal(again.status, 304, path)
  }
})

test('without access only the refusal page and its stylesheet are served', async () => {
  const refused = await call('/users', { headers: page })
  assert.equal(refused.status, 401)
  assert.match(refused.body, /Access denied/)
  assert.match(refused.body, /address that was printed in the terminal/)
  const [, style = ''] = /href="(\/assets\/[^"]+)"/.exec(refused.body) ?? []
  const stylesheet = await call(style)
  assert.equal(stylesheet.status, 200)
  assert.equal(stylesheet.headers.get('content-type'), 'text/css; charset=utf-8')

  const targets = [
    '/',
    '/api/session',
    '/api/overview/stream',
    '/assets/app.js',
    '/assets/style.css',
    '/assets/mark.svg',
    '/auth/health',
    '/graphql',
    '/no/such/page',
    `${style}/`,
    `${style}?x`,
    '/assets/../assets/refusal.css/../app.js',
    '/assets/%72efusal.css%2f..%2fapp.js',
    '//assets/app.js',
    'http://localhost/api/session',
  ]
  for (const target of targets) {
    assert.equal((await call(target)).status, 401, target)
  }
})

test('non-browser clients are refused with JSON and an error code', async () => {
  const { body, headers } = await call('/api/session')
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  assert.equal(JSON.parse(body.slice(body.indexOf('{'))).error.code, 'no_access')
})

test('unknown host names are refused, to prevent DNS rebinding', async () => {
  const { port } = new URL(running.url)
  for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '']) {
    const { status, body } = await callInside('/api/session', { headers: { host } })
    assert.equal(status, 421, host)
    assert.match(body, /--allowed-host/)
  }
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '[::1]', 'console.example.com:8']) {
    assert.equal((await callInside('/api/session', { headers: { host } })).status, 200, host)
  }
})

test('other sites can neither call nor embed it, with or without the cookie', async () => {
  for (const site of ['cross-site', 'same-site']) {
    for (const dest of ['empty', 'script', 'image', 'style', 'iframe', 'object', 'frame']) {
      const mode = dest === 'iframe' || dest === 'frame' ? 'navigate' : 'no-cors'
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }
      for (const target of ['/api/session', '/assets/app.js', '/assets/refusal.css']) {
        const { status } = await callInside(target, { headers })
        assert.equal(status, 403, `${site} ${dest} ${target}`)
      }
    }
  }
})

test('a link on another site needs one more click, since the navigation has no cookie', async () => {
  const answer = await call('/try?code=a"b&x=1', { headers: visitFrom('cross-site') })
  assert.equal(answer.status, 403)
  assert.match(answer.body, /href="\/try\?code=a%22b&amp;x=1"/)
  const entering = await call(`/try?token=${token}`, { headers: visitFrom('cross-site') })
  assert.match(entering.headers.get('set-cookie') ?? '', /^portcullis_/)
  assert.match(entering.body, /href="\/try"/)
  assert.ok(!entering.body.includes(token))
  const neighbour = await callInside('/try', { headers: visitFrom('same-site') })
  assert.equal(neighbour.status, 200)
})

test('requests that change something must come from a script of the console', async () => {
  const { host } = new URL(running.url)
  const refused: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'a form of another site': { ...ownScript, 'sec-fetch-site': 'cross-site' },
    'a form of the same site': { ...ownScript, 'sec-fetch-site': 'same-site' },
    'an address typed by hand': { ...ownScript, 'sec-fetch-site': 'none' },
    'another origin': { ...ownScript, origin: 'http://evil.example' },
    'another port': { ...ownScript, origin: 'http://localhost:1' },
    'a sandboxed frame': { ...ownScript, origin: 'null' },
    'a form of the console itself': { 'sec-fetch-site': 'same-origin', origin: `http://${host}` },
    'an old browser': { origin: 'http://evil.example' },
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    for (const [who, headers] of Object.entries(refused)) {
      assert.equal((await callInside('/api/session', { method, headers })).status, 403, who)
    }
    const headers = { ...ownScript, origin: `http://${host}`, 'content-length': '0' }
    // The session has no other method that changes something.
    const status = method === 'DELETE' ? 204 : 404
    assert.equal((await callInside('/api/session', { method, headers })).status, status)
  }
})

test('preflight requests of other origins are refused', async () => {
  const { status, headers } = await callInside('/api/session', {
    method: 'OPTIONS',
    headers: { origin: 'http://evil.example', 'access-control-request-method': 'POST' },
  })
  assert.equal(status, 403)
  assert.deepEqual(
    [...headers.keys()].filter((name) => name.startsWith('access-control')),
    [],
  )
})

test('every response has headers against caching, sniffing, embedding and foreign scripts', async () => {
  const targets = ['/', '/api/session', '/nothing/here', '/%zz', `/assets/${'a'.repeat(500)}`]
  for (const target of [...targets, '/api/nothing']) {
    for (const answer of [await call(target), await callInside(target)]) {
      const { headers } = answer
      const policy = headers.get('content-security-policy') ?? ''
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/, target)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.ok(!policy.includes('unsafe'))
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('referrer-policy'), 'no-referrer')
      assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
      assert.match(headers.get('cache-control') ?? '', /^no-(?:store|cache)$/)
    }
  }
  assert.equal((await callInside('/api/session')).headers.get('cache-control'), 'no-store')
})

test('unusual methods and invalid URLs are refused', async () => {
  for (const method of ['TRACE', 'PROPFIND', 'QUERY', 'PURGE']) {
    assert.equal((await call('/', { method })).status, 403, method)
    const { status } = await callInside('/', { method, headers: ownScript })
    assert.ok(status === 404 || status === 400, `${method}: ${status}`)
  }
  assert.equal((await call('/', { method: 'NOSUCH' })).status, 400)
  assert.equal((await callInside('/%zz')).status, 400)
  assert.equal((await callInside(`/assets/${'a'.repeat(5_000)}`)).status, 414)
  assert.equal((await callInside(`/${'a'.repeat(20_000)}`)).status, 431)
  for (const target of ['/assets/..%2fpackage.json', '/assets/%2e%2e/app.js', '/api/../../x']) {
    assert.equal((await callInside(target)).status, 404, target)
  }
})

test('HEAD responds like GET without a body, and closes event streams', async () => {
  for (const target of ['/', '/api/session', '/assets/app.js', '/api/overview/stream']) {
    const { status, body } = await callInside(target, { method: 'HEAD' })
    assert.equal(status, 200, target)
    assert.equal(body, '')
  }
})

test('the number of open event streams is limited, and closed ones free their place', async () => {
  const open = () => fetch(`${running.url}/api/overview/stream`, { headers: { cookie } })
  const streams = await Promise.all(Array.from({ length: mostStreams }, open))
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]))
  const refused = await open()
  assert.equal(refused.status, 429)
  assert.equal((await refused.json()).error.code, 'too_many_streams')
  for (const { body } of streams) await body?.cancel()
  let next = await open()
  while (next.status === 429) {
    await next.body?.cancel()
    next = await open()
  }
  assert.equal(next.status, 200)
  await next.body?.cancel()
})
