import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { eventsCommand } from '../src/commands/events.ts'
import { parseTailArguments } from '../src/commands/events-arguments.ts'
import { toEventJson, toEventLine } from '../src/commands/events-output.ts'
import { toEvent } from '../src/console/overview/sign-ins.ts'

const userId = '3f0c8a52-6d0c-4c3e-9a57-0d0f6f0a1b2c'

function createFailure(number: number, count = 1) {
  return {
    id: `00000000-0000-4000-8000-${`${number}`.padStart(12, '0')}`,
    created_at: new Date(Date.UTC(2026, 2, 4, 9, 15, number)).toISOString(),
    ip_address: '203.0.113.5',
    payload: {
      action: 'login_failed',
      actor_id: '',
      actor_username: 'ada@example.com',
      traits: { reason: 'wrong_password', count },
    },
  }
}

test('arguments become the query for the auth server', () => {
  const now = Date.UTC(2026, 2, 4, 12)
  const parse = (...args: string[]) => parseTailArguments(['tail', ...args], {}, now)
  const searchOf = (...args: string[]) => {
    const parsed = parse(...args)
    return 'faults' in parsed ? parsed.faults : parsed.search
  }
  assert.deepEqual(searchOf(), {})
  assert.deepEqual(searchOf('--user', userId), { user: userId })
  assert.deepEqual(searchOf('--user', '+1 555 0100', '--failed'), {
    name: '+1 555 0100',
    failed: 'true',
  })
  assert.deepEqual(searchOf('--address', '::1', '--action', 'login', '--tokens'), {
    ...{ address: '::1', action: 'login', tokens: 'true' },
  })
  for (const [since, from] of [
    ['15m', '2026-03-04T11:45:00.000Z'],
    ['7d', '2026-02-25T12:00:00.000Z'],
    ['2026-03-01T00:00:00Z', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
  ] as const) {
    assert.deepEqual(searchOf('--since', since), { from })
  }
  assert.deepEqual(searchOf('--since', 'yesterday'), [
    '--since must be a duration such as 15m, or a time such as 2026-03-04T00:00:00Z, not "yesterday".',
  ])
  assert.deepEqual(searchOf('--nope'), ['Unknown option --nope.'])
  assert.deepEqual(searchOf('--user'), ['--user needs a value.'])
  assert.deepEqual(searchOf('ada'), ['Unexpected argument "ada": tail takes only options.'])
  assert.deepEqual(searchOf('--auth-key', 'x'), ['--auth-key needs --auth-url.'])
  assert.deepEqual(searchOf('--auth-url', 'localhost'), [
    '--auth-url must be a URL such as http://localhost:8081, not "localhost".',
    '--auth-url needs a service key of that server: set PORTCULLIS_AUTH_KEY, or pass --auth-key.',
  ])
  const other = parseTailArguments(['tail', '--auth-url', 'http://a.example/auth/'], {
    PORTCULLIS_AUTH_KEY: 'key\n',
  })
  assert.deepEqual('server' in other && other.server, {
    url: 'http://a.example/auth',
    key: 'key',
  })
})

test('a line has time, address, user and sentence, and no control characters', () => {
  const failure = createFailure(1, 3)
  const event = toEvent(failure)
  assert.match(
    toEventLine(event, false),
    /^\d{4}-03-0\d \d\d:15:01 {2}203\.0\.113\.5 {6}ada@example\.com \(no account\) {2}Failed to sign in: wrong password, 3 times$/,
  )
  // oxlint-disable-next-line no-control-regex -- a terminal sequence
  assert.match(toEventLine(event, true), /\u001b\[31mFailed to sign in/)
  const hostile = toEvent({
    ...failure,
    payload: { ...failure.payload, actor_username: 'a\u001b]0;x\u0007\u009b2J@b' },
  })
  for (const text of [toEventLine(hostile, false), toEventJson(hostile)]) {
    assert.doesNotMatch(text, /\p{Cc}/u)
  }
  assert.equal(JSON.parse(toEventJson(hostile)).payload.actor_username, hostile.user.name)
  const byAdmin = toEvent({
    ...failure,
    payload: {
      ...{ action: 'user_deleted', actor_id: '0', actor_username: 'service_role' },
      traits: { user_id: userId },
    },
  })
  assert.match(toEventLine(byAdmin, false), /The account was deleted by service_role$/)
})

test('a line has phone numbers with a plus sign, as in the console', () => {
  const failure = createFailure(1)
  const byPhone = toEvent({
    ...failure,
    payload: { ...failure.payload, actor_username: '15550100200' },
  })
  assert.match(toEventLine(byPhone, false), / {2}\+15550100200 \(no account\) {2}Failed to sign in/)
  // The JSON has the stored value, which is the one that the API of the auth server uses.
  assert.equal(JSON.parse(toEventJson(byPhone)).user.name, '15550100200')
  const byAdmin = toEvent({
    ...failure,
    payload: {
      ...{ action: 'user_deleted', actor_id: '0', actor_username: '15550100200' },
      traits: { user_id: userId, user_phone: '15550100300' },
    },
  })
  assert.match(
    toEventLine(byAdmin, false),
    / {2}\+15550100300 {2}The account was deleted by \+15550100200$/,
  )
})

/** Runs a command that ends by itself. */
async function run(...args: string[]) {
  let stdout = ''
  let stderr = ''
  const code = await eventsCommand.run(args, {
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
    env: { PORTCULLIS_AUTH_KEY: 'secret' },
    isTerminal: false,
  })
  return { code, stdout, stderr }
}

/** Opens an auth server that has the events of `pages`, and then those of `tails`. */
async function openAuth(
  t: TestContext,
  { pages, tails = [] }: { readonly pages: readonly object[][]; readonly tails?: object[][] },
) {
  const searches: string[] = []
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://auth')
    searches.push(`${searchParams}`)
    response.setHeader('content-type', 'application/json')
    const after = searchParams.get('after')
    const page = Number(searchParams.get('before') ?? 0)
    const answer =
      after === null
        ? { events: pages[page] ?? [], next: page + 1 < pages.length ? `${page + 1}` : null }
        : { events: tails[Number(after)] ?? [], next: null }
    response.end(JSON.stringify({ ...answer, latest: `${after === null ? 0 : Number(after) + 1}` }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  return { url: `http://127.0.0.1:${address.port}`, searches }
}

test('--no-follow prints the stored events, oldest first, and ends', async (t) => {
  const { url, searches } = await openAuth(t, {
    pages: [[createFailure(4), createFailure(3)], [], [createFailure(2)]],
  })
  const { code, stdout } = await run(
    ...['tail', '--auth-url', url, '--no-follow', '--json', '--failed'],
  )
  assert.equal(code, 0)
  const ids = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id)
  assert.deepEqual(
    ids,
    [2, 3, 4].map((number) => createFailure(number).id),
  )
  assert.deepEqual(searches, [
    'failed=true&limit=20',
    'failed=true&before=1&limit=18',
    'failed=true&before=2&limit=18',
  ])
})

test('invalid arguments exit with 2, and failures with 1', async (t) => {
  assert.deepEqual(await run(), {
    ...{ code: 2, stdout: '' },
    stderr: 'The verb is missing. Verbs: tail.\nSee: portcullis events --help\n',
  })
  const none = await run('tail', '--data', join(import.meta.dirname, 'no-such-folder'))
  assert.equal(none.code, 1)
  assert.match(none.stderr, /^--data .*no-such-folder: the folder contains no valid secrets\.json/)
  const { url } = await openAuth(t, { pages: [[]] })
  const down = await run('tail', '--auth-url', url.replace(/\d+$/, '1'), '--no-follow')
  assert.equal(down.code, 1)
  assert.match(down.stderr, /^The auth server does not respond at /)
})

test('new events follow until Ctrl-C, and repeated ones are printed once', async (t) => {
  const tails = [
    [createFailure(1), createFailure(2)],
    [],
    // The first one is the same as before; the second one has more attempts.
    [createFailure(1), createFailure(2, 5)],
  ]
  const { url } = await openAuth(t, { pages: [[createFailure(1)]], tails })
  const program = join(import.meta.dirname, '../src/main.ts')
  const child = spawn(process.execPath, [program, 'events', 'tail', '--auth-url', url, '--json'], {
    env: { ...process.env, PORTCULLIS_AUTH_KEY: 'secret' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const counts: number[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    counts.push(JSON.parse(line).payload.traits.count)
    if (counts.length === 3) child.kill('SIGINT')
  }
  assert.deepEqual(counts, [1, 1, 5])
  const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
  assert.equal(code, 0)
})
