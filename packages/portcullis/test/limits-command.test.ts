import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { limitsCommand } from '../src/commands/limits.ts'
import type { CounterState, TopKeys } from '../src/console/limits/key-pages.ts'
import { takeFolder } from '../src/up/data-folder.ts'
import { provideSecrets } from '../src/up/secrets.ts'
import { createBaseUrls, openWorld } from './support/world.ts'

async function run(...args: string[]) {
  let out = ''
  let err = ''
  const code = await limitsCommand.run(args, {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
    env: {},
    isTerminal: false,
  })
  return { code, out, err }
}

const rules = `domain: shop
descriptors:
  - { key: user, rate_limit: { unit: day, requests_per_unit: 3 } }
`

test('limits finds an up that listens on another address than 127.0.0.1', async (t) => {
  // On Linux, all of 127.0.0.0/8 are addresses of this machine.
  const host = process.platform === 'linux' ? '127.0.0.2' : '::1'
  const folder = mkdtempSync(join(tmpdir(), 'limits-host-'))
  using lock = takeFolder(folder, false)
  provideSecrets(folder)
  const top = { by: 'limited', since: '', seconds: 1, isEstimate: false, floor: 0, keys: [] }
  const debug = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(top))
  })
  t.after(() => {
    debug.close().closeAllConnections()
    rmSync(folder, { recursive: true })
  })
  await once(debug.listen(0, host), 'listening')
  lock.publishPorts({ debug: (debug.address() as AddressInfo).port }, host)
  const { code, out } = await run('top', '--data', folder)
  assert.deepEqual([code, out], [0, 'No request was over a limit in the last 1 s.\n'])
})

test('limits top, inspect and reset find a running up', async (t) => {
  await using world = await openWorld(['--only', 'ratelimit'])
  writeFileSync(join(world.folder, 'rules', 'shop.yaml'), rules)
  const call = async (value: string, hitsAddend: number) => {
    const descriptors = [{ entries: [{ key: 'user', value }] }]
    const body = JSON.stringify({ domain: 'shop', descriptors, hitsAddend })
    const answer = await fetch(`${world.baseUrls.ratelimit}/json`, { method: 'POST', body })
    return (await answer.json()) as { statuses: readonly { currentLimit?: unknown }[] }
  }
  // The service loads the file within a moment. Each call has its own user, so that none is limited.
  for (let user = 1; ; user += 1) {
    const [status] = (await call(`early-${user}`, 1)).statuses
    if (status?.currentLimit !== undefined) break
  }
  await call('ada', 10)
  await call('bob', 5)
  const data = ['--data', world.folder]

  await t.test('top lists the keys with the most hits', async () => {
    const { code, out } = await run('top', '--json', ...data)
    const top: TopKeys = JSON.parse(out)
    assert.deepEqual(
      [code, ...top.keys.map(({ entries, limited, hits }) => [entries[0]?.value, limited, hits])],
      [0, ['ada', 7, 10], ['bob', 2, 5]],
    )
    const text = (await run('top', '--by', 'calls', '--count', '2', ...data)).out
    assert.match(text, /^OVER {2}HITS {2}LIMIT {6}KEY\n {3}7 {4}10 {2}3 per day {2}shop user=ada\n/)
    assert.match(text, /\n\nHits of the last \d+ s\. The numbers are exact\.\n$/)
  })

  await t.test('inspect shows a counter, and reset sets it to 0', async () => {
    const before = await run('inspect', 'shop', 'user=ada', ...data)
    assert.match(
      before.out,
      /^Key {8}shop user=ada\nRule {7}shop\.user: 3 per day\nHits {7}10 of 3, 0 left$/m,
    )
    const reset = await run('reset', 'shop', 'user=ada', ...data)
    assert.match(reset.out, /^The counter was reset\.\n[^]*^Hits {7}0 of 3, 3 left$/m)
    const after = await run('inspect', 'shop', 'user=ada', '--json', ...data)
    const state: CounterState = JSON.parse(after.out)
    assert.deepEqual([state.hits, state.remaining, state.store], [0, 3, 'memory'])
  })

  await t.test('set shows the effect, then changes the file', async () => {
    const path = join(world.folder, 'rules', 'shop.yaml')
    const dry = await run('set', 'shop.user', '30/day', '--dry-run', ...data)
    assert.equal(dry.code, 0)
    assert.match(
      dry.out,
      /^The limit of shop\.user would be 30 per day; it is 3 per day \(shop\.yaml,/,
    )
    assert.match(
      dry.out,
      /^Of the latest \d+ requests, \d+ would be decided differently: 0 refused instead/m,
    )
    assert.equal(readFileSync(path, 'utf8'), rules)
    const { code, out } = await run('set', 'shop.user', '30/day', '--json', ...data)
    const change = JSON.parse(out)
    assert.deepEqual([code, change.before, change.after], [0, '3 per day', '30 per day'])
    assert.equal(change.load.state, 'loaded')
    assert.equal(readFileSync(path, 'utf8'), rules.replace('unit: 3', 'unit: 30'))
    const unknown = await run('set', 'shop.usr', '30/day', ...data)
    assert.equal(unknown.code, 1)
    assert.match(unknown.err, /^There is no rule "shop\.usr"\. .* Did you mean shop\.user\?\n$/)
    const back = await run('set', 'shop.user', '3/day', ...data)
    assert.match(back.out, /^The limit of shop\.user is now 3 per day; it was 30 per day/)
    assert.equal(readFileSync(path, 'utf8'), rules)
  })

  await t.test('the service is given by its URL', async () => {
    const url = createBaseUrls(world.folder)('debug')
    const { code, out } = await run('inspect', 'shop', 'user=bob', '--debug-url', url)
    assert.equal(code, 0)
    assert.match(out, /^Hits {7}5 of 3, 0 left$/m)
  })

  await t.test('an error of the service is printed', async () => {
    const { code, err } = await run('inspect', 'nowhere', 'user=ada', ...data)
    assert.deepEqual([code, err], [1, 'There are no rules for the domain "nowhere".\n'])
  })
})

test('limits reports a missing service and invalid arguments', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-limits-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const missing = await run('top', '--data', folder)
  assert.equal(missing.code, 1)
  assert.match(missing.err, /^--data .*: the folder contains no valid secrets\.json/)
  const unreachable = await run('top', '--debug-url', 'http://127.0.0.1:1')
  assert.equal(unreachable.code, 1)
  assert.match(unreachable.err, /^The rate limit service does not respond at /)
  for (const [args, message] of [
    [[], /^The verb is missing\. Verbs: top, inspect, reset, set\./],
    [['tops'], /^Unknown verb "tops"\. .*top/],
    [['top', '--nope'], /^Unknown option --nope\./],
    [['top', 'shop'], /^Unexpected argument "shop": top takes only options\./],
    [['top', '--by', 'name'], /^--by must be limited or calls, not "name"\./],
    [['top', '--count', '0'], /^--count must be a number from 1 to 1000, not "0"\./],
    [['inspect'], /^The domain is missing\. Pass DOMAIN KEY=VALUE…$/m],
    [
      ['inspect', 'shop'],
      /^The entries of the descriptor are missing\. Pass KEY=VALUE… after the domain\./,
    ],
    [['reset', 'shop', 'user'], /^An entry must be KEY=VALUE, not "user"\./],
    [['reset', 'shop', 'a=b', '--by', 'calls'], /^--by is an option of top, not of reset\./],
    [['set'], /^Pass a rule and its new limit: RULE N\/UNIT\./],
    [['set', 'shop.user', '3/eon'], /^The limit must be a number and a unit from second to year/],
    [['set', 'shop.user', '3/day', 'x'], /^Unexpected argument "x"\./],
    [
      ['set', 'a.b', '3/day', '--debug-url', 'http://x'],
      /^With --debug-url, set needs --rules DIR/,
    ],
    [['top', '--dry-run'], /^--dry-run is an option of set, not of top\./],
    [['top', '--debug-url', 'ftp://x'], /^--debug-url must be a URL/],
    [
      ['top', '--debug-url', 'ftp://a:b@x'],
      /^--debug-url must not contain a user name or password/,
    ],
    [['top', '--debug-token', 'a b'], /^The debug token contains a space/],
  ] as const) {
    const { code, err } = await run(...args)
    assert.equal(code, 2, args.join(' '))
    assert.match(err, message)
    assert.match(err, /\nSee: portcullis limits --help\n$/)
  }
})
