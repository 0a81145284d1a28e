import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { suite, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { programEnvironment } from '@portcullis/test-servers'
import { replay } from '../../src/commands/replay.ts'
import { createFolder, runCommand } from '../support/run-command.ts'
import { parseXml } from '../tools/replay/support/xml.ts'

const rules = `domain: api
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 2 }
  - key: path
    value: /login
    rate_limit: { unit: minute, requests_per_unit: 100 }
`

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand(replay, args, { env })

/** Lines of one user, at these seconds after midnight. */
function toLines(...seconds: number[]): string {
  return seconds
    .map((second) => {
      const time = new Date(Date.UTC(2026, 0, 1, 0, 0, 0) + second * 1000).toISOString()
      return `${JSON.stringify({ time, domain: 'api', descriptors: [{ user: 'a' }] })}\n`
    })
    .join('')
}

suite('the replay command', () => {
  test('gives advice if no line of the log can be read', async (t) => {
    const directory = await createFolder(t, { 'a.yaml': rules, log: 'GET /login\nGET /\n' })
    const args = [directory, join(directory, 'log')]
    assert.match((await run(args)).err, /^No line .* If it is an access log, pass --domain and --/)
    const mapping = ['--domain', 'api', '--descriptor', 'path=%REQ(:PATH)%']
    assert.match((await run([...args, ...mapping])).err, /^No line .* Set the format .* --format\./)
  })

  test('shows in a table which requests the rules would have refused', async (t) => {
    const directory = await createFolder(t, { 'a.yaml': rules, log: toLines(0, 1, 2, 3, 60) })
    const { code, out, err } = await run([directory, join(directory, 'log')])
    assert.equal(err, '')
    assert.equal(code, 0)
    assert.match(out, /^refused {5}2 \(40\.0 %\)$/m)
    assert.match(out, /^api\.user +2\/minute +5 +3 +1 +2 +40\.0 % +4 2\.0x +2026-01-01 00:00:02/m)
    assert.match(out, /^1 rule matched no request/m)
  })

  test('reads several compressed logs in their order, and rules from one file', async (t) => {
    const directory = await createFolder(t, {
      'rules.yml': rules,
      'log.1.gz': gzipSync(toLines(0, 1)),
      'log.2.zst': zstdCompressSync(toLines(2)),
      'log.3': toLines(3),
    })
    const logs = ['log.1.gz', 'log.2.zst', 'log.3'].map((name) => join(directory, name))
    const { code, out } = await run([join(directory, 'rules.yml'), ...logs, '--json'])
    assert.equal(code, 0)
    const report = JSON.parse(out)
    assert.deepEqual(report.logs, logs)
    assert.deepEqual(report.requests, {
      total: 4,
      refused: 2,
      shadowRefused: 0,
      withoutRule: 0,
      unknownDomain: 0,
      failed: 0,
    })
    assert.deepEqual(report.timeline, {
      start: '2026-01-01T00:00:00.000Z',
      bucketSeconds: 1,
      allowed: [1, 1, 0, 0],
      refused: [0, 0, 1, 1],
    })
    const [user] = report.perRule
    assert.equal(user.path, 'api.user')
    assert.deepEqual(user.limit, {
      requestsPerUnit: 2,
      unit: 'minute',
      windowSeconds: 60,
      algorithm: 'fixed_window',
      unlimited: false,
      shadowMode: false,
      quotaMode: false,
      name: '',
    })
    assert.deepEqual(user.peak, {
      hits: 4,
      key: 'api_user_a_60s',
      at: '2026-01-01T00:00:03.000Z',
    })
    assert.deepEqual(
      [user.shareRefused, user.firstRefusal, user.lastRefusal],
      [0.5, '2026-01-01T00:00:02.000Z', '2026-01-01T00:00:03.000Z'],
    )
  })

  test('sorts lines that are out of order, and counts those that are too late', async (t) => {
    // The third request of the first minute comes after some of later minutes.
    const directory = await createFolder(t, { 'a.yaml': rules, log: toLines(0, 1, 100, 130, 2) })
    const args = [directory, join(directory, 'log'), '--json']
    const sorted = JSON.parse((await run([...args, '--reorder', '3m'])).out)
    assert.deepEqual([sorted.lines.late, sorted.requests.refused], [0, 1])
    const late = JSON.parse((await run(args)).out)
    assert.deepEqual([late.lines.late, late.requests.refused], [1, 0])
  })

  test('skips lines that cannot be read, and shows the first ones', async (t) => {
    const log = `${toLines(0)}nonsense\n${toLines(1)}{"time": 5}\n\n${toLines(2)}`
    const directory = await createFolder(t, { 'a.yaml': rules, log })
    const path = join(directory, 'log')
    const { code, out } = await run([directory, path])
    assert.equal(code, 0)
    assert.match(out, /^requests {4}3$/m)
    assert.match(out, /^unreadable {2}2 skipped, see below$/m)
    assert(out.includes(`${path}:2: invalid JSON: `), out)
    assert(out.includes(`${path}:4: there is no domain in the field domain`), out)
    assert.equal((await run([directory, path, '--strict'])).code, 1)
  })

  test('reads an access log of Envoy', async (t) => {
    const toLine = (second: number, user: string, path: string) =>
      `[2026-01-01T00:00:0${second}.000Z] "GET ${path} HTTP/1.1" ${user}\n`
    const log = [
      toLine(0, 'a', '/login?x=1'),
      toLine(1, 'a', '/login'),
      toLine(2, 'a', '/other'),
      toLine(3, '-', '/login'),
    ].join('')
    const directory = await createFolder(t, { 'a.yaml': rules, log })
    const { code, out, err } = await run([
      directory,
      join(directory, 'log'),
      '--json',
      '--domain=api',
      '--format=[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %REQ(X-USER)%\\n',
      '--descriptor=user=%REQ(X-USER)%',
      '--descriptor=path=%REQ(:PATH)%',
      '--strip-query',
    ])
    assert.equal(err, '')
    assert.equal(code, 0)
    const { perRule, requests } = JSON.parse(out)
    assert.deepEqual([requests.total, requests.refused], [4, 1])
    const counts = perRule.map(
      ({ path, requests: { total } }: { path: string; requests: { total: number } }) => [
        path,
        total,
      ],
    )
    assert.deepEqual(counts, [
      ['api.user', 3],
      ['api.path_/login', 3],
    ])
  })

  test('reads the example', async () => {
    const examples = join(import.meta.dirname, '..', '..', '..', '..', 'examples', 'ratelimit')
    const { code, out } = await run([
      join(examples, 'config'),
      join(examples, 'replay', 'access-log.txt'),
      '--json',
      '--domain=api',
      '--descriptor=remote_address=%REQ(X-FORWARDED-FOR)%',
      '--descriptor=path=%REQ(:PATH)%',
      '--strip-query',
    ])
    assert.equal(code, 0)
    const { lines, requests, refusedKeys } = JSON.parse(out)
    assert.deepEqual([lines.unreadable, lines.late], [0, 0])
    assert.deepEqual([requests.total, requests.refused, requests.withoutRule], [68, 12, 0])
    const keys = refusedKeys.map(({ key, refused }: { key: string; refused: number }) => [
      key,
      refused,
    ])
    assert.deepEqual(keys, [
      ['api_path_/search_1s', 7],
      ['api_path_/admin/users_60s', 4],
      ['api_remote_address_192.0.2.66_1s.0.1', 1],
    ])
  })

  test('draws a chart', async (t) => {
    const directory = await createFolder(t, { 'a.yaml': rules, log: toLines(0, 1, 2, 3) })
    const chart = join(directory, 'chart.svg')
    const { code } = await run([directory, join(directory, 'log'), '--chart', chart])
    assert.equal(code, 0)
    assert.equal(parseXml(await readFile(chart, 'utf8')).name, 'svg')
    const nowhere = join(directory, 'nowhere', 'chart.svg')
    const failed = await run([directory, join(directory, 'log'), '--chart', nowhere])
    assert.equal(failed.code, 1)
    assert.match(failed.out, /^refused/m)
    assert.match(
      failed.err,
      /^The chart cannot be written to .*chart\.svg: no such file or directory\n/,
    )
  })

  test('compares two rule sets in one pass', async (t) => {
    const directory = await createFolder(t, { 'a.yaml': rules, log: toLines(0, 1, 2, 3) })
    const other = await createFolder(t, { 'a.yaml': rules.replace('unit: 2', 'unit: 3') })
    const args = [directory, join(directory, 'log'), '--compare', other]
    const { out } = await run(args)
    assert.match(out, /^refused {5}2 before, 1 after \(-1\)$/m)
    const { comparison, compared } = JSON.parse((await run([...args, '--json'])).out)
    assert.equal(comparison.differences[0].refusedAfter, 1)
    assert.equal(compared.requests.refused, 1)
  })

  test('uses the same environment variables as the service', async (t) => {
    const directory = await createFolder(t, { 'a.yaml': rules, log: toLines(0, 1, 2) })
    const args = [directory, join(directory, 'log'), '--json']
    const { requests } = JSON.parse((await run(args, { SHADOW_MODE: 'true' })).out)
    assert.deepEqual([requests.refused, requests.shadowRefused], [0, 1])
    const wrong = await run(args, { NEAR_LIMIT_RATIO: 'high' })
    assert.equal(wrong.code, 2)
    assert.match(wrong.err, /^The environment is invalid:\n {2}NEAR_LIMIT_RATIO/)
  })

  test('reports rules with faults, missing files, and a truncated log', async (t) => {
    const directory = await createFolder(t, {
      'bad.yaml': 'domain: api\ndescriptors: [{ key: a, rate_limit: { unit: eon } }]\n',
      'good.yaml': rules,
      'cut.gz': gzipSync(toLines(0, 1, 2)).subarray(0, -9),
      log: toLines(0),
    })
    const at = (name: string) => join(directory, name)
    const faulty = await run([at('bad.yaml'), at('log')])
    assert.equal(faulty.code, 1)
    assert.match(faulty.err, /bad\.yaml:2:.*unit/)
    const missing = await run([at('good.yaml'), at('nowhere')])
    assert.equal(missing.code, 2)
    assert.match(missing.err, /^The log .*nowhere cannot be read: no such file or directory\n/)
    assert.equal((await run([at('nowhere'), at('log')])).code, 2)
    const cut = await run([at('good.yaml'), at('cut.gz')])
    assert.equal(cut.code, 1)
    assert.match(cut.err, /cut\.gz cannot be read further than line \d: unexpected end of file/)
    assert.match(cut.out, /^cut +the log was not read to its end$/m)
  })

  const misuses: [args: string[], message: RegExp][] = [
    [[], /^The rules are missing: pass a folder or a file\.$/m],
    [['rules'], /^The log is missing: .*\.$/m],
    [['rules', '-', '-'], /^Standard input can be read only once\.$/m],
    [['rules', 'log', '--frobnicate'], /^Unknown option --frobnicate\.$/m],
    [
      ['rules', 'log', '--reorder', 'soon'],
      /^--reorder must be a duration such as 10s, not "soon"\.$/m,
    ],
    [['rules', 'log', '--top', 'all'], /^--top must be a whole number, not "all"\.$/m],
    [['rules', 'log', '--format', 'json'], /^--format needs at least one --descriptor\.$/m],
    [['rules', 'log', '--descriptor', 'a=b'], /^--descriptor needs --domain\.$/m],
    [
      [
        'rules',
        'log',
        '--domain',
        'x',
        '--descriptor',
        'a=%REQ(X)%',
        '--format',
        '%START_TIME% %RQ%',
      ],
      /^--format, column 14: unknown operator %RQ%\n {2}%START_TIME% %RQ%\n {15}\^$/m,
    ],
    [
      ['rules', 'log', '--domain', 'x', '--descriptor', 'a=%REQ(X-NONE)%'],
      /^--descriptor, column 3: %REQ\(X-NONE\)% is not in the format/,
    ],
  ]
  for (const [args, message] of misuses) {
    test(`reports invalid arguments: ${args.join(' ')}`, async () => {
      const { code, err } = await run(args)
      assert.equal(code, 2)
      assert.match(err, message)
      assert.match(err, /See: ratelimit replay --help\n$/)
    })
  }

  test('reports what was read so far when it is interrupted', async (t) => {
    const directory = await createFolder(t, { 'a.yaml': rules })
    const program = join(import.meta.dirname, '..', '..', 'src', 'main.ts')
    const child = spawn(process.execPath, [program, 'replay', directory, '-', '--json'], {
      env: programEnvironment,
    })
    t.after(() => child.kill('SIGKILL'))
    const ended = once(child, 'close')
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stdin.on('error', () => {})
    child.stdin.write(toLines(0, 1, 2))
    let warnings = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      warnings += text
    })
    await waitForPipe(child.stdin)
    child.kill('SIGINT')
    const [code] = await ended
    assert.equal(warnings, '')
    assert.equal(code, 130)
    const report = JSON.parse(out)
    assert.equal(report.isCut, true)
    assert.equal(report.requests.total, 3)
  })
})

/** Waits until the reader has taken more than the pipe buffer, so that it is surely running. */
async function waitForPipe(pipe: NodeJS.WritableStream): Promise<void> {
  const empty = '\n'.repeat(1 << 20)
  await new Promise<void>((resolve, reject) => {
    pipe.write(empty, (error) => (error ? reject(error) : resolve()))
  })
}
