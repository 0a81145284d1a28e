import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createConsoleCommand } from '../../src/commands/console.ts'
import { parseConsoleArguments } from '../../src/commands/console-arguments.ts'
import { openConsole } from '../../src/console/console.ts'
import { createAuthCheck } from '../../src/console/health/index.ts'
import { listReachable } from '../../src/up/addresses.ts'
import { findFamily, waitUntilExited } from '../support/processes.ts'

const program = join(import.meta.dirname, '../../src/main.ts')
const key = 'a-service-key-that-must-stay-secret'

async function runCommand(args: readonly string[], env = {}) {
  let stderr = ''
  const code = await createConsoleCommand('1.2.3').run(args, {
    stdout: { write: () => {} },
    stderr: {
      write(text) {
        stderr += text
      },
    },
    env,
    isTerminal: false,
  })
  return { code, stderr }
}

async function listen(t: TestContext, answer: RequestListener): Promise<Server> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}

const toPort = (server: Server) => (server.address() as AddressInfo).port

test('all errors in the arguments are reported at once', async () => {
  const { code, stderr } = await runCommand([
    '--auth-url=ftp://auth',
    '--ratelimit-url',
    'http://ada:hunter2@limits',
    '--port=70000',
    '--allowed-host=https://console.example.com',
    '--rules',
    '/no/such/directory',
    '--colour',
    'blue',
  ])
  assert.equal(code, 2)
  const expected = [
    /^--auth-url must be a URL such as .*, not "ftp:\/\/auth"\.$/m,
    /^--auth-url needs a service key .* PORTCULLIS_AUTH_KEY, or pass --auth-key\.$/m,
    /^--ratelimit-url must not contain a user name or password\.$/m,
    /^--ratelimit-url needs --ratelimit-debug-url\.$/m,
    /^--port must be a number from 0 to 65535, not "70000"\.$/m,
    /^--allowed-host must be a host name without scheme and port, not "https:.*"\.$/m,
    /^--rules must be an existing folder, not "\/no\/such\/directory"\.$/m,
    /^Unknown option --colour\.$/m,
    /^Unexpected argument "blue": console takes only options\.$/m,
    /^See: portcullis console --help\n$/m,
  ]
  for (const fault of expected) assert.match(stderr, fault)
  assert.ok(!stderr.includes('hunter2'))
})

test('an option without a value, a key without a server, and no server at all are errors', async () => {
  assert.match((await runCommand([])).stderr, /^No server is given\. Pass /)
  assert.match((await runCommand(['--graphql-url', '--port', '1'])).stderr, /graphql-url needs a/)
  assert.match((await runCommand(['--auth-key', key])).stderr, /--auth-key needs --auth-url/)
})

test('the key is read from the option or the environment; base URLs lose a trailing slash', async () => {
  const args = ['--auth-url', 'https://x.example/auth/v1/', '--graphql-url', 'https://x.example/g/']
  const env = { PORTCULLIS_AUTH_KEY: ' of-the-environment\n' }
  const parsed = parseConsoleArguments(args, env)
  assert.ok(!('faults' in parsed))
  assert.equal(parsed.auth?.url, 'https://x.example/auth/v1')
  assert.equal(parsed.graphql?.url, 'https://x.example/g/')
  assert.equal(await parsed.auth?.key(), 'of-the-environment')
  const flagged = parseConsoleArguments([...args, '--auth-key', 'of-the-flag'], env)
  assert.ok(!('faults' in flagged))
  assert.equal(await flagged.auth?.key(), 'of-the-flag')
})

test('a key that is not a valid header value is refused, and the message does not repeat it', async () => {
  for (const broken of ['hunter2\nhunter2', 'hunter2 hunter2', 'hunter2\u2026']) {
    const { code, stderr } = await runCommand(['--auth-url', 'http://x', '--auth-key', broken])
    assert.equal(code, 2)
    assert.match(stderr, /The service key contains a space, a line break/)
    assert.ok(!stderr.includes('hunter2'))
  }
})

test('the help warns against keys on the command line', () => {
  const usage = createConsoleCommand('1').usage.replaceAll(/\s+/g, ' ')
  assert.match(usage, /other users of this machine can read command lines/)
})

test('a port in use is reported with the option to choose another', async (t) => {
  const port = toPort(await listen(t, () => {}))
  const args = ['--graphql-url', 'http://127.0.0.1:1', '--port', `${port}`]
  const { code, stderr } = await runCommand(args)
  assert.equal(code, 1)
  assert.equal(
    stderr,
    `Port ${port} is in use. Stop the process that uses it, or choose another port with --port.\n`,
  )
})

/** Responds like Supabase Auth to the requests at start. */
const answerAsSupabaseAuth: RequestListener = (request, response) => {
  if (request.url === '/health') {
    const description = 'GoTrue is a user registration and authentication API'
    response.end(JSON.stringify({ version: 'v2.180.0', name: 'GoTrue', description }))
  } else if (request.headers.authorization !== `Bearer ${key}` || request.headers.apikey !== key) {
    response.writeHead(401).end('{"code":401,"error_code":"bad_jwt","msg":"invalid JWT"}')
  } else if (request.url?.startsWith('/admin/users')) {
    response.setHeader('content-type', 'application/json')
    response.setHeader('x-total-count', '42').end('{"users":[],"aud":"authenticated"}')
  } else {
    response.writeHead(404).end('404 page not found')
  }
}

/** Responds like the debug port of envoyproxy/ratelimit. */
const answerAsOriginalRatelimit: RequestListener = (request, response) => {
  const stats = 'ratelimit.service.rate_limit.d.k.total_hits: 3\n'
  response.end(request.url === '/stats' ? stats : '/rlconfig: …\n/stats: print out stats\n')
}

test('it starts for other servers, prints their state, admits with the token and stops on a signal', async (t) => {
  const auth = await listen(t, answerAsSupabaseAuth)
  const ratelimit = await listen(t, answerAsOriginalRatelimit)
  const child = spawn(
    process.execPath,
    [
      program,
      'console',
      ...['--auth-url', `http://127.0.0.1:${toPort(auth)}`],
      ...['--ratelimit-debug-url', `http://127.0.0.1:${toPort(ratelimit)}/`],
      ...['--graphql-url', 'http://127.0.0.1:1/graphql', '--port', '0'],
      ...['--host', '0.0.0.0'],
    ],
    { env: { ...process.env, PORTCULLIS_AUTH_KEY: key }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const exited = once(child, 'exit')
  t.after(() => child.kill('SIGKILL'))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (line === 'Press Ctrl-C to stop.') break
  }
  const output = lines.join('\n')
  assert.match(output, /^auth .* is up, GoTrue v2\.180\.0, key accepted, 42 users$/m)
  assert.match(output, /^ratelimit .*:\d+ {2}is up$/m)
  assert.match(output, /^graphql .* does not respond yet: /m)
  assert.ok(!output.includes(key))
  assert.match(
    output,
    /^WARNING: other machines can reach the console\. It listens on 0\.0\.0\.0 without TLS,$/m,
  )
  for (const name of listReachable('0.0.0.0')) {
    assert.match(output, new RegExp(`^ +http://${name}:\\d+/\\?token=`, 'm'))
  }

  const [entryUrl = ''] = /http:\/\/localhost:\d+\/\?token=[\w-]{32}/.exec(output) ?? []
  const entry = await fetch(entryUrl, { redirect: 'manual' })
  const cookie = entry.headers.get('set-cookie')?.split(';')[0] ?? ''
  const session = await fetch(new URL('/api/session', entryUrl), { headers: { cookie } })
  const text = await session.text()
  assert.equal(session.status, 200)
  assert.ok(!text.includes(key) && text.includes(`127.0.0.1:${toPort(auth)}`))

  // Responses of other servers must never be shown as a page of the console's origin.
  const passed = await fetch(new URL('/auth/health', entryUrl), { headers: { cookie } })
  assert.match(await passed.text(), /GoTrue/)
  assert.match(
    passed.headers.get('content-security-policy') ?? '',
    /^default-src 'none'.* sandbox$/,
  )

  child.kill('SIGINT')
  assert.deepEqual(await exited, [0, null])
})

// The terminal sends the signal to all processes of the group, so the bundler receives it too.
const signalOrders: Readonly<Record<string, (pid: number, bundlerPid: number) => Promise<void>>> = {
  async 'at the same time'(pid) {
    process.kill(-pid, 'SIGINT')
  },
  async 'after the end of the bundler'(pid, bundlerPid) {
    process.kill(bundlerPid, 'SIGINT')
    await sleep(100)
    process.kill(pid, 'SIGINT')
  },
}

for (const [order, sendSignals] of Object.entries(signalOrders)) {
  test(`Ctrl-C while the page is bundled ends the console quietly, noticed ${order}`, async (t) => {
    const child = spawn(
      process.execPath,
      [program, 'console', '--graphql-url', 'http://127.0.0.1:1/graphql', '--port', '0'],
      { detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    const { pid } = child
    assert.ok(pid !== undefined)
    const closed = once(child, 'close')
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    }
    t.after(() => child.kill('SIGKILL'))
    let family = findFamily(pid)
    while (family.length < 2) family = findFamily(pid)
    await sendSignals(pid, family[1]?.pid ?? 0)
    assert.deepEqual([...(await closed), output], [0, null, ''])
    await waitUntilExited(family)
  })
}

test('a refused key is reported at start', async (t) => {
  const auth = await listen(t, answerAsSupabaseAuth)
  const check = createAuthCheck({
    url: `http://127.0.0.1:${toPort(auth)}`,
    key: async () => 'another',
  })
  const { state, detail } = await check()
  assert.equal(state, 'degraded')
  assert.match(detail ?? '', /refused the service key \(status 401\)/)
})

test('the Users page also sends its key to the gateway, and reports a refusal', async (t) => {
  const url = `http://127.0.0.1:${toPort(await listen(t, answerAsSupabaseAuth))}`
  const requestWith = async (shown: string) => {
    const auth = { url, key: async () => shown }
    await using running = await openConsole({
      host: '127.0.0.1',
      port: 0,
      token: 'a-token',
      version: '1.2.3',
      auth,
    })
    const entry = await fetch(running.entryUrl, { redirect: 'manual' })
    const cookie = entry.headers.get('set-cookie')?.split(';')[0] ?? ''
    const answer = await fetch(`${running.url}/api/users`, { headers: { cookie } })
    return [answer.status, await answer.text()] as const
  }
  const taken = await requestWith(key)
  assert.equal(taken[0], 200, taken[1])
  const [status, text] = await requestWith('another')
  assert.equal(status, 502)
  assert.match(text, /"key_refused".*refused the service key \(status 401\)/)
})
