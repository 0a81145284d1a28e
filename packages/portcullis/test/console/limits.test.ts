import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { openConsole, type RunningConsole } from '../../src/console/console.ts'
import type {
  CheckedFile,
  CounterUpdate,
  DraftReview,
  ListedFile,
  PolicyTestRun,
  RuleBook,
  SavedFile,
  TextFinding,
} from '../../src/console/routes/limits.ts'

// Imitates the debug port of a rate limit service, with a controllable number of loads.
const service = {
  loads: 1,
  refusals: 0,
  /** Called on every request, to simulate the effect of file changes. */
  onStats: () => {},
  goldHits: () => 3,
  hasCounters: true,
  /** Like the service, which lists its pages at unknown paths. */
  workers: '/rlconfig: print out the rules\n',
  decisions: (_url: string) => ({ status: 200, text: '/rlconfig: print out the rules\n' }),
  rules: [
    'shop.user: unit=MINUTE requests_per_unit=5, shadow_mode: false',
    'shop.user_7: unit=HOUR requests_per_unit=9, shadow_mode: true, quota_mode: false',
    'shop.path_/a.b: unit=UNKNOWN requests_per_unit=0, shadow_mode: false, quota_mode: false',
  ],
}
const debug = createServer((request, response) => {
  if (request.url === '/workers') return response.end(service.workers)
  if (request.url?.startsWith('/decisions')) {
    const { status, text } = service.decisions(request.url)
    return response.writeHead(status).end(text)
  }
  if (request.url === '/rlconfig') return response.end(`${service.rules.join('\n')}\n`)
  service.onStats()
  if (!service.hasCounters) return response.end('cmdline: ["ratelimit"]\nmemstats: {"Alloc":1}\n')
  response.end(
    [
      `ratelimit.service.config_load_success: ${service.loads}`,
      `ratelimit.service.config_load_error: ${service.refusals}`,
      'ratelimit.service.rate_limit.shop.user.total_hits: 12',
      'ratelimit.service.rate_limit.shop.user.over_limit: 2',
      'ratelimit.service.rate_limit.shop.user.within_limit: 10',
      `ratelimit.service.rate_limit.shop.plan_gold.total_hits: ${service.goldHits()}`,
      'ratelimit.service.rate_limit.shop.plan_silver.total_hits: 4',
    ].join('\n'),
  )
})

const token = 'let-me-in'
const directory = mkdtempSync(join(tmpdir(), 'rules-'))
const apiText = 'domain: api\ndescriptors:\n  - key: user\n'
let running: RunningConsole
let flat: RunningConsole
let cookie = ''

before(async () => {
  await new Promise<void>((listening) => debug.listen(0, '127.0.0.1', listening))
  const address = debug.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const debugUrl = `http://127.0.0.1:${port}`
  const settings = { host: '127.0.0.1', port: 0, token, version: '0' }
  running = await openConsole({
    ...settings,
    ratelimit: { debugUrl, rulesDirectory: directory },
  })
  flat = await openConsole({ ...settings, ratelimit: { debugUrl } })
  const entry = await fetch(running.entryUrl, { redirect: 'manual' })
  cookie = entry.headers.get('set-cookie')?.split(';')[0] ?? ''
})
after(async () => {
  await running[Symbol.asyncDispose]()
  await flat[Symbol.asyncDispose]()
  debug.closeAllConnections()
  debug.close()
  rmSync(directory, { recursive: true })
})
beforeEach(() => {
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true })
  writeFileSync(join(directory, 'api.yaml'), apiText)
  service.onStats = () => {
    service.loads += 1
  }
})

async function call<Body>(
  path: string,
  {
    method = 'GET',
    body,
    at = running,
  }: { method?: string; body?: unknown; at?: RunningConsole } = {},
): Promise<{ status: number; body: Body }> {
  const answer = await fetch(`${at.url}/api/limits/${path}`, {
    method,
    headers: {
      cookie,
      'x-portcullis-console': '1',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: JSON.parse(text) }
}

interface Refusal {
  readonly error: { readonly code: string; readonly message: string }
  readonly findings?: readonly TextFinding[]
}

const open = async (name = 'api.yaml') => (await call<CheckedFile>(`files/${name}`)).body
const save = <Body>(name: string, text: string, version: string | null) =>
  call<Body>(`files/${name}`, { method: 'PUT', body: { text, version } })

test('rules from files form a tree with line numbers, and a difference to the rules in force is reported', async () => {
  const { body } = await call<RuleBook>('rules')
  assert.equal(body.source, 'files')
  assert.equal(body.domains[0]?.rules[0]?.place?.line, 3)
  assert.match(body.notice ?? '', /rules in force differ/)
})

test('without valid files, the rules are read from the service', async () => {
  const { body } = await call<RuleBook>('rules', { at: flat })
  assert.equal(body.source, 'service')
  assert.equal(body.notice, undefined)
  const [shop] = body.domains
  assert.equal(shop?.domain, 'shop')
  assert.deepEqual(
    shop.rules.map(({ key, value, limitText, shadowMode }) => [key, value, limitText, shadowMode]),
    [
      ['user', '', '5 per minute', false],
      ['user', '7', '9 per hour', true],
      ['path_/a.b', '', 'unlimited', false],
    ],
  )

  writeFileSync(join(directory, 'api.yaml'), 'domain: [')
  const faulty = (await call<RuleBook>('rules')).body
  assert.equal(faulty.source, 'service')
  assert.match(faulty.notice ?? '', /api\.yaml, line 1.*previous rules remain in force/)
})

test('statistics by value are summed by rule, with a rate per second', async () => {
  const limit = 'rate_limit: { unit: day, requests_per_unit: 1 }'
  const rule = `  - key: plan\n    detailed_metric: true\n    ${limit}\n`
  writeFileSync(join(directory, 'shop.yaml'), `domain: shop\ndescriptors:\n${rule}`)
  let hits = 3
  service.goldHits = () => hits
  const leaving = new AbortController()
  const stream = await fetch(`${running.url}/api/limits/counters`, {
    headers: { cookie },
    signal: leaving.signal,
  })
  const updates: CounterUpdate[] = []
  let text = ''
  for await (const piece of stream.body ?? []) {
    text += Buffer.from(piece).toString()
    const found = text.matchAll(/event: counters\ndata: (.+)\n\n/g)
    updates.splice(0, updates.length, ...Array.from(found, ([, data = '']) => JSON.parse(data)))
    if (updates.length === 1) hits = 4
    if (updates.length === 2) break
  }
  leaving.abort()
  const [first, second] = updates.map(({ rules }) => rules['shop.plan'])
  assert.deepEqual([first?.total, first?.ratePerSecond], [7, 0])
  assert.equal(second?.total, 8)
  assert.ok(second.ratePerSecond > 0 && second.ratePerSecond < 1)
})

test('a service without counters is not shown as having counted nothing', async (t) => {
  service.hasCounters = false
  const leaving = new AbortController()
  t.after(() => {
    service.hasCounters = true
    leaving.abort()
  })
  const { signal } = leaving
  const stream = await fetch(`${flat.url}/api/limits/counters`, { headers: { cookie }, signal })
  let text = ''
  for await (const piece of stream.body ?? []) {
    text += Buffer.from(piece).toString()
    if (text.includes('event: ')) break
  }
  assert.match(
    text,
    /event: failure\ndata: .*does not report its counters at \/stats: .*statsd or Prometheus/,
  )
})

test('without the URL of the service, a decision request names the missing option', async () => {
  const body = { domain: 'api', descriptors: [{ entries: [{ key: 'user', value: '1' }] }] }
  const answer = await call<Refusal>('decide', { method: 'POST', body })
  assert.equal(answer.status, 409)
  assert.match(answer.body.error.message, /--ratelimit-url/)
})

test('a file name is never a path', async () => {
  const names = [
    '..%2Fsecret.yaml',
    '%2Fetc%2Fpasswd',
    'a%5Cb.yaml',
    '.hidden.yaml',
    'a.txt',
    'a%00.yaml',
  ]
  for (const name of names) {
    for (const answer of [
      await call<Refusal>(`files/${name}`),
      await save<Refusal>(name, 'domain: x\n', null),
      await call<Refusal>(`files/${name}?version=x`, { method: 'DELETE' }),
      await call<Refusal>(`files/${name}/check`, { method: 'POST', body: { text: '' } }),
    ]) {
      assert.equal(answer.status, 400, name)
      assert.equal(answer.body.error.code, 'bad_file_name')
    }
  }
  assert.deepEqual(readdirSync(directory), ['api.yaml'])
})

test('a text is checked together with the other files, with line, column and hint', async () => {
  const check = async (name: string, text: string) =>
    (await call<TextFinding[]>(`files/${name}/check`, { method: 'POST', body: { text } })).body
  const bad = 'domain: b\ndescriptors:\n  - key: a\n    rate_limit:\n      unit: minutes\n'
  const [unit] = await check('b.yaml', bad)
  assert.deepEqual([unit?.file, unit?.line, unit?.column], ['b.yaml', 5, 13])
  assert.match(unit?.hint ?? '', /second, minute/)
  assert.equal(unit?.isBlocking, true)

  const [twice] = await check('a.yaml', apiText)
  assert.deepEqual([twice?.file, twice?.isBlocking], ['api.yaml', true])
  assert.match(twice?.message ?? '', /duplicate domain 'api'/)
})

test('a text with an error is not saved, and the file stays unchanged', async () => {
  const { version } = await open()
  const answer = await save<Refusal>('api.yaml', 'domain: api\ndescriptor: []\n', version)
  assert.equal(answer.status, 422)
  assert.match(answer.body.error.message, /line 2, column 1: .*unknown key 'descriptor'/)
  assert.equal(answer.body.findings?.[0]?.line, 2)
  assert.equal(readFileSync(join(directory, 'api.yaml'), 'utf8'), apiText)
})

test('an error in another file does not prevent saving this one', async () => {
  writeFileSync(join(directory, 'z.yaml'), 'domain: z\nwrong: 1\n')
  const { version, findings } = await open()
  assert.deepEqual(findings.map(({ file, isBlocking }) => [file, isBlocking]).at(-1), [
    'z.yaml',
    false,
  ])
  const { status } = await save('api.yaml', `# fixed\n${apiText}`, version)
  assert.equal(status, 200)
})

test('saving replaces the file and waits for the service to load it', async () => {
  const { version } = await open()
  const text = `# new\n${apiText}`
  const { status, body } = await save<SavedFile>('api.yaml', text, version)
  assert.equal(status, 200)
  assert.equal(body.load.state, 'loaded')
  assert.equal((await open()).version, body.version)
  assert.deepEqual(readdirSync(directory), ['api.yaml'])

  service.onStats = () => {
    service.refusals += 1
  }
  const refused = await save<SavedFile>('api.yaml', apiText, body.version)
  assert.equal(refused.body.load.state, 'refused')
})

test('a file that was changed or deleted in the meantime is not overwritten', async () => {
  const { version } = await open()
  writeFileSync(join(directory, 'api.yaml'), `# theirs\n${apiText}`)
  const changed = await save<Refusal>('api.yaml', `# ours\n${apiText}`, version)
  assert.deepEqual([changed.status, changed.body.error.code], [409, 'file_changed'])
  const removal = await call<Refusal>(`files/api.yaml?version=${version}`, { method: 'DELETE' })
  assert.equal(removal.status, 409)
  assert.match(readFileSync(join(directory, 'api.yaml'), 'utf8'), /theirs/)

  rmSync(join(directory, 'api.yaml'))
  const gone = await save<Refusal>('api.yaml', apiText, version)
  assert.deepEqual([gone.status, gone.body.error.code], [409, 'file_gone'])
})

test('files are created once, listed and deleted; links are not changed', async () => {
  const text = 'domain: shop\ndescriptors:\n  - key: user\n'
  assert.equal((await save('shop.yaml', text, null)).status, 200)
  const again = await save<Refusal>('shop.yaml', text, null)
  assert.deepEqual([again.status, again.body.error.code], [409, 'file_exists'])
  symlinkSync(join(directory, 'shop.yaml'), join(directory, 'link.yaml'))
  const linked = await open('link.yaml')
  const answer = await save<Refusal>(
    'link.yaml',
    'domain: other\ndescriptors: []\n',
    linked.version,
  )
  assert.equal(answer.body.error.code, 'not_a_file')
  rmSync(join(directory, 'link.yaml'))

  const { version } = await open('shop.yaml')
  const removal = await call(`files/shop.yaml?version=${version}`, { method: 'DELETE' })
  assert.equal(removal.status, 200)
  const { body } = await call<ListedFile[]>('files')
  assert.deepEqual(
    body.map(({ name }) => name),
    ['api.yaml'],
  )
  assert.equal((await call<Refusal>('files/shop.yaml')).status, 404)
})

const limited = (requests: number) => `domain: api
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: ${requests} }
`

function toDecisionLines(user: string, count: number): string {
  return Array.from({ length: count }, (_, second) => {
    const time = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
    const descriptors = [{ entries: [{ key: 'user', value: user }] }]
    return `${JSON.stringify({ time, domain: 'api', descriptors, code: 'OK' })}\n`
  }).join('')
}

test('a draft is compared with the rules on disk by the requests of all workers', async () => {
  writeFileSync(join(directory, 'api.yaml'), limited(5))
  service.workers = 'worker 1: pid=7 state=serving\nworker 2: pid=8 state=serving\n'
  const urls: string[] = []
  service.decisions = (url) => {
    urls.push(url)
    return { status: 200, text: toDecisionLines('ada', 2) }
  }
  const review = (text: string) =>
    call<DraftReview>('files/api.yaml/review', { method: 'POST', body: { text } })
  const { body } = await review(limited(3))
  assert.deepEqual(urls, ['/decisions?worker=1', '/decisions?worker=2'])
  const { requests, changed, changes } = body.comparison ?? {}
  assert.deepEqual([requests, changed], [4, 1])
  assert.deepEqual(changes?.[0]?.after, {
    code: 'OVER_LIMIT',
    limit: '3 per hour',
    rule: 'api.user',
  })
  const wrong = await review('domain: api\ndescriptors: 7\n')
  assert.match(wrong.body.reason ?? '', /contain an error/)
})

test('a draft is not compared if the service records nothing, refuses or does not respond', async () => {
  service.workers = '/rlconfig: print out the rules\n'
  const review = async () => {
    const body = { text: limited(3) }
    const answer = await call<DraftReview>('files/api.yaml/review', { method: 'POST', body })
    assert.equal(answer.status, 200)
    assert.equal(answer.body.comparison, undefined)
    return answer.body.reason ?? ''
  }
  service.decisions = () => ({ status: 200, text: service.workers })
  assert.match(await review(), /does not record.*DEBUG_RECORDED_DECISIONS=20000/)
  service.decisions = () => ({ status: 404, text: '404 page not found\n' })
  assert.match(await review(), /does not record/)
  service.decisions = () => ({ status: 403, text: 'This page is available only from …\n' })
  assert.equal(await review(), 'This page is available only from …')
  service.decisions = () => ({ status: 200, text: '' })
  assert.match(await review(), /has not received any requests/)
})

test('policy tests are files like rules, and run against the rules with the draft', async () => {
  writeFileSync(join(directory, 'api.yaml'), limited(2))
  const tests = (times: number) => `domain: api
tests:
  - name: allowed
    steps:
      - { request: { descriptors: [{ user: ada }] }, times: ${times}, expect: ok }
`
  const created = await save<SavedFile>('api.test.yaml', tests(3), null)
  assert.equal(created.body.load.state, 'stored')
  const wrong = await save<Refusal>('api.test.yaml', 'tests: 7\n', created.body.version)
  assert.equal(wrong.status, 422)
  const run = async (name: string, text: string) =>
    (await call<PolicyTestRun>(`files/${name}/tests`, { method: 'POST', body: { text } })).body
  const failed = await run('api.test.yaml', tests(3))
  assert.match(
    failed.files[0]?.results[0]?.failure?.mismatches[0]?.message ?? '',
    /expected ok, got over_limit/,
  )
  const passed = await run('api.yaml', limited(3))
  assert.deepEqual(
    passed.files.map(({ name, results }) => [name, results[0]?.failure]),
    [['api.test.yaml', undefined]],
  )
  const broken = await run('api.yaml', 'domain: [\n')
  assert.equal(broken.fault?.file, 'api.yaml')
  const many = await run('api.test.yaml', tests(200_001))
  assert.match(many.files[0]?.findings[0]?.message ?? '', /at most 200000 are allowed here/)
})
