import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type DebugSettings, openDebugListener } from '../../../src/transports/debug/debug.ts'
import { collectLog } from '../../support/collected-log.ts'

async function openExample(t: TestContext, settings: Partial<DebugSettings> = {}) {
  const { log, lines } = collectLog()
  const listener = await openDebugListener({
    host: '127.0.0.1',
    port: 0,
    ruleLines: () => [],
    statistics: { lines: () => [] },
    log,
    ...settings,
  })
  assert.ok(listener)
  t.after(() => listener[Symbol.asyncDispose]())
  return { url: `http://127.0.0.1:${listener.port}`, port: listener.port, lines }
}

test('the root and unknown paths list the endpoints, sorted', async (t) => {
  const { url, port, lines } = await openExample(t)
  const expected = `/debug/pprof/: root of various pprof endpoints. hit for help.
/debug/pprof/goroutine: active resources and event loop delay
/debug/pprof/heap: heap profiling endpoint
/debug/pprof/profile: CPU profiling endpoint
/debug/pprof/trace: trace endpoint
/rlconfig: print out the currently loaded configuration for debugging
/stats: print out stats
`
  for (const path of ['/', '/nowhere']) {
    const response = await fetch(url + path)
    assert.deepEqual([response.status, await response.text()], [200, expected])
  }
  assert.deepEqual(lines, [`warning Listening for debug on '127.0.0.1:${port}'`])
})

test('/rlconfig prints the given lines, and nothing if there are none', async (t) => {
  const ruleLines = ['a.b: unit=DAY', 'a.c: unit=HOUR']
  const { url } = await openExample(t, { ruleLines: () => ruleLines })
  assert.equal(await (await fetch(`${url}/rlconfig`)).text(), 'a.b: unit=DAY\na.c: unit=HOUR\n')
  ruleLines.length = 0
  assert.equal(await (await fetch(`${url}/rlconfig`)).text(), '')
})

test('/stats prints names and values, followed by the resource usage of the process', async (t) => {
  async function* statistics() {
    yield ['ratelimit.service.config_load_success', 1] as const
    yield ['ratelimit.service.rate_limit.d.k.total_hits', 2_939] as const
  }
  const { url } = await openExample(t, { statistics: { lines: statistics } })
  const response = await fetch(`${url}/stats`)
  assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
  const lines = (await response.text()).split('\n')
  assert.deepEqual(lines.slice(0, 2), [
    'ratelimit.service.config_load_success: 1',
    'ratelimit.service.rate_limit.d.k.total_hits: 2939',
  ])
  const usage = lines.slice(2).join('\n')
  assert.match(usage, /^ratelimit\.node\.memory\.rss: \d+$/m)
  assert.match(usage, /^ratelimit\.node\.memory\.heap_limit: \d+$/m)
  const [, utilization] = /^ratelimit\.node\.eventloop\.utilization: (\S+)$/m.exec(usage) ?? []
  assert.ok(Number(utilization) >= 0 && Number(utilization) <= 1, utilization)
})

test('600,000 statistics do not block the event loop', async (t) => {
  const count = 600_000
  function* statistics() {
    for (let i = 0; i < count; i += 1)
      yield [`ratelimit.service.rate_limit.domain.key_${i}`, i] as const
  }
  const { url } = await openExample(t, { statistics: { lines: statistics } })
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  t.after(() => clearInterval(timer))
  const text = await (await fetch(`${url}/stats`)).text()
  assert.equal(text.match(/domain\.key_/g)?.length, count)
  assert.ok(turns > 20, `only ${turns} turns`)
})

test('a reader that stops reading and disconnects ends the listing', async (t) => {
  const ended = Promise.withResolvers<number>()
  function* ruleLines() {
    let count = 0
    try {
      for (;;) yield `line ${count++} ${'x'.repeat(1_000)}`
    } finally {
      ended.resolve(count)
    }
  }
  const { port } = await openExample(t, { ruleLines })
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('GET /rlconfig HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'readable')
  socket.destroy()
  assert.ok((await ended.promise) < 1_000_000)
})

test('a listing that fails is aborted and logged, and affects nothing else', async (t) => {
  function* ruleLines() {
    yield 'first'
    throw new Error('out of order')
  }
  const { url, lines } = await openExample(t, { ruleLines })
  await assert.rejects(async () => (await fetch(`${url}/rlconfig`)).text())
  assert.match(lines.join('\n'), /error .*out of order/)
  assert.equal((await fetch(url)).status, 200)
})

test('if the port is in use, the service continues without the listener', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { log, lines } = collectLog()
  const listener = await openDebugListener({
    host: '127.0.0.1',
    port,
    ruleLines: () => [],
    statistics: { lines: () => [] },
    log,
  })
  assert.equal(listener, undefined)
  assert.match(
    lines.join('\n'),
    new RegExp(
      `^error Cannot listen for debug on '127\\.0\\.0\\.1:${port}', continuing without it: .*EADDRINUSE`,
    ),
  )
})

test('/debug/pprof/ lists the profiles', async (t) => {
  const { url } = await openExample(t)
  const text = await (await fetch(`${url}/debug/pprof/`)).text()
  for (const name of ['profile', 'heap', 'trace', 'goroutine']) {
    assert.ok(text.includes(`/debug/pprof/${name}`), name)
  }
})

test('a CPU profile has the format of developer tools', async (t) => {
  const { url } = await openExample(t)
  const response = await fetch(`${url}/debug/pprof/profile?seconds=0.2`)
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-disposition') ?? '', /\.cpuprofile"$/)
  const profile = JSON.parse(await response.text())
  assert.ok(profile.nodes.length > 0)
  assert.ok(profile.endTime > profile.startTime)
  assert.equal(profile.samples.length, profile.timeDeltas.length)
})

test('a heap profile shows the allocations during its time', async (t) => {
  const { url } = await openExample(t)
  const profiling = fetch(`${url}/debug/pprof/heap?seconds=0.3`)
  const kept: object[] = []
  for (let i = 0; i < 100; i += 1) {
    await setImmediate()
    for (let k = 0; k < 1_000; k += 1) kept.push({ i, k })
  }
  const profile = JSON.parse(await (await profiling).text())
  assert.ok(profile.head.children.length > 0)
  assert.equal(kept.length, 100_000)
})

test('a trace shows turns of the event loop', async (t) => {
  const { url } = await openExample(t)
  const { traceEvents } = JSON.parse(
    await (await fetch(`${url}/debug/pprof/trace?seconds=0.2`)).text(),
  )
  const names = new Set(traceEvents.map((event: { name: string }) => event.name))
  assert.ok(names.has('RunTimers') || names.has('CheckImmediate'), [...names].join())
})

test('/debug/pprof/goroutine shows active resources and the delay of the event loop', async (t) => {
  const { url } = await openExample(t)
  const text = await (await fetch(`${url}/debug/pprof/goroutine`)).text()
  assert.match(
    text,
    /^active resources:\n(?: +\d+ \w+\n)+\nevent loop during 1000 ms:\n {2}busy \d/,
  )
  assert.match(text, /p99 \d+\.\d\d ms/)
})

test('the seconds of a profile are limited', async (t) => {
  const { url } = await openExample(t)
  for (const seconds of ['0', '-1', '301', 'long', 'Infinity', 'NaN']) {
    const response = await fetch(`${url}/debug/pprof/profile?seconds=${seconds}`)
    assert.deepEqual(
      [response.status, await response.text()],
      [400, 'seconds must be a number up to 300\n'],
    )
  }
})

test('only one profile runs at a time, and it ends when its client disconnects', async (t) => {
  const { url, lines } = await openExample(t)
  const first = request(`${url}/debug/pprof/profile?seconds=300`).end()
  first.on('error', () => {})
  t.after(() => first.destroy())
  await once(first, 'finish')
  let second = await fetch(`${url}/debug/pprof/heap?seconds=0.05`)
  while (second.status === 200) second = await fetch(`${url}/debug/pprof/heap?seconds=0.05`)
  assert.deepEqual(
    [second.status, await second.text()],
    [409, '/debug/pprof/profile is being recorded; try again when it is done\n'],
  )
  first.destroy()
  let third = await fetch(`${url}/debug/pprof/heap?seconds=0.05`)
  while (third.status === 409) third = await fetch(`${url}/debug/pprof/heap?seconds=0.05`)
  assert.equal(third.status, 200)
  assert.deepEqual(
    lines.filter((line) => line.startsWith('error')),
    [],
  )
})

/** An address of this machine that is not a loopback address; undefined if there is none. */
function findOutsideAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flat()
  return all.find((each) => each?.family === 'IPv4' && !each.internal)?.address
}

/** The status of a request with these headers, including `host`. */
async function getStatus(
  address: string,
  port: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const path = '/debug/pprof/profile?seconds=0.01'
  const sent = request({ host: address, port, path, headers }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode ?? 0
}

test('profiles are available from this machine, or with the token', async (t) => {
  const bearer = { authorization: 'Bearer secret-token' }
  const { port, lines } = await openExample(t, { host: '0.0.0.0', token: 'secret-token' })
  assert.equal(await getStatus('127.0.0.1', port), 200)
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    // A foreign name that resolves to this machine (DNS rebinding), which a browser treats as the same
    // origin.
    { host: 'rebound.example' },
  ] as Record<string, string>[]) {
    assert.equal(await getStatus('127.0.0.1', port, headers), 403)
    assert.equal(await getStatus('127.0.0.1', port, { ...headers, ...bearer }), 200)
  }
  assert.equal(lines.length, 1)
  const outside = findOutsideAddress()
  if (outside === undefined) return
  assert.equal(await getStatus(outside, port), 403)
  assert.equal(await getStatus(outside, port, { authorization: 'Bearer wrong' }), 403)
  assert.equal(await getStatus(outside, port, bearer), 200)
  for (const page of ['/', '/stats', '/rlconfig', '/debug/pprof/']) {
    assert.equal((await fetch(`http://${outside}:${port}${page}`)).status, 200)
  }
})

test('recorded decisions are listed on this machine, or with the token, and not for websites', async (t) => {
  const { url } = await openExample(t, { token: 'secret-token', decisionLines: () => ['{}'] })
  const read = async (headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/decisions`, { headers })
    return [response.status, (await response.text()).slice(0, 3)]
  }
  assert.deepEqual(await read(), [200, '{}\n'])
  const foreign = { origin: 'https://evil.example' }
  assert.equal((await read(foreign))[0], 403)
  assert.equal((await read({ ...foreign, authorization: 'Bearer secret-token' }))[0], 200)
})

test('a listener that other machines can reach causes one warning, unless there is a token', async (t) => {
  const { port, lines } = await openExample(t, { host: '0.0.0.0' })
  assert.equal(await getStatus('127.0.0.1', port, { authorization: 'Bearer undefined' }), 200)
  assert.deepEqual(
    lines.map((line) => line.slice(0, 60)),
    [
      `warning Listening for debug on '0.0.0.0:${port}'`,
      'warning The debug listener can be reached from other machine',
    ],
  )
})
