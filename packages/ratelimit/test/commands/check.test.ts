import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { check } from '../../src/commands/check.ts'
import { createFolder, type RunOptions, runCommand } from '../support/run-command.ts'

async function run(args: readonly string[], options?: RunOptions) {
  const { code, out, err } = await runCommand(check, args, options)
  return { code, stdout: out, stderr: err }
}

const good = 'domain: d\ndescriptors:\n  - key: k\n'
const odd = 'domain: o\ndescriptors:\n  - key: k\n    unit: day\n'
const bad = 'domain: b\ndescriptors:\n  - key: k\n    valu: v\n  - rate_limit: {unit: eon}\n'

test('a folder without faults succeeds', async (t) => {
  const directory = await createFolder(t, { 'a.yaml': good })
  assert.deepEqual(await run([directory]), {
    code: 0,
    stdout: '0 errors and 0 warnings in 1 file\n1 domain with 1 rule\nall rate limit configs ok\n',
    stderr: '',
  })
})

test('all faults and warnings of all files are shown with their lines', async (t) => {
  const directory = await createFolder(t, { 'z.yaml': bad, 'a.yaml': odd, 'm.yml': good })
  const { code, stdout } = await run([directory])
  assert.equal(code, 1)
  assert.equal(
    stdout.replaceAll(directory, 'DIR'),
    `DIR/a.yaml:4:5: warning: 'unit' has no effect here, it belongs inside rate_limit
    4 |     unit: day
      |     ^

warning: DIR/m.yml: not read: only regular files named *.yaml are rule files

DIR/z.yaml:4:5: config error, unknown key 'valu'
    4 |     valu: v
      |     ^

DIR/z.yaml:5:5: descriptor has empty key
    5 |   - rate_limit: {unit: eon}
      |     ^

DIR/z.yaml:5:24: invalid rate limit unit 'eon'
    5 |   - rate_limit: {unit: eon}
      |                        ^
      = units are second, minute, hour, day, week, month, year

3 errors and 2 warnings in 2 files
`,
  )
})

test('with --strict, warnings are faults', async (t) => {
  const directory = await createFolder(t, { 'a.yaml': odd })
  const tolerant = await run([directory])
  assert.equal(tolerant.code, 0)
  assert.match(tolerant.stdout, /warning: 'unit'.*all rate limit configs ok\n$/s)
  const strict = await run(['--strict', directory])
  assert.equal(strict.code, 1)
  assert.doesNotMatch(strict.stdout, /all rate limit configs ok/)
})

test('domains are merged with --merge, MERGE_DOMAIN_CONFIG, and the flag of envoyproxy/ratelimit', async (t) => {
  const other = good.replace('key: k', 'key: l')
  const directory = await createFolder(t, { 'a.yaml': good, 'b.yaml': other })
  const apart = await run([directory])
  assert.equal(apart.code, 1)
  assert.match(apart.stdout, /b\.yaml:1:9: duplicate domain 'd' in config file/)
  for (const args of [
    [directory, '--merge'],
    ['-config_dir', directory, '-merge_domain_configs'],
    [`--config_dir=${directory}`, '--merge_domain_configs=true'],
  ]) {
    assert.equal((await run(args)).code, 0, args.join(' '))
  }
  assert.equal((await run([directory, '--merge=false'])).code, 1)
  const env = { MERGE_DOMAIN_CONFIG: 'true' }
  assert.equal((await run([directory], { env })).code, 0)
  assert.equal((await run([directory, '--merge=false'], { env })).code, 1)
})

test('policy tests in the same folder are not rule files', async (t) => {
  const tests = 'tests:\n  - name: x\n    steps: []\n'
  const directory = await createFolder(t, { 'a.yaml': good, 'a.test.yaml': tests })
  const { code, stdout } = await run([directory, '--strict'])
  assert.equal(code, 0)
  assert.match(stdout, /^0 errors and 0 warnings in 1 file\n/)
})

test('JSON contains the same findings', async (t) => {
  const directory = await createFolder(t, { 'a.yaml': odd, 'b.yaml': bad })
  const { code, stdout } = await run([directory, '--json'])
  assert.equal(code, 1)
  const result = JSON.parse(stdout)
  assert.equal(result.ok, false)
  assert.equal(result.files, 2)
  assert.equal(result.findings.length, 4)
  assert.deepEqual(result.findings[1], {
    severity: 'fault',
    path: join(directory, 'b.yaml'),
    line: 4,
    column: 5,
    message: "config error, unknown key 'valu'",
  })
})

test('a file that cannot be read is a fault', async (t) => {
  const directory = await createFolder(t, { 'a.yaml': good })
  await writeFile(join(directory, 'b.yaml'), Uint8Array.of(0xff))
  const { code, stdout } = await run([directory])
  assert.equal(code, 1)
  assert.ok(
    stdout.startsWith(
      `${join(directory, 'b.yaml')}:1:1: error loading config file: the file is not UTF-8 text\n`,
    ),
  )
})

test('a folder without rule files causes a warning', async (t) => {
  const directory = await createFolder(t, {})
  const { code, stdout } = await run([directory])
  assert.equal(code, 0)
  assert.match(stdout, /^warning: .* contains no \*\.yaml files\n/)
})

test('a folder that cannot be read has its own error message', async () => {
  const { code, stdout, stderr } = await run(['/nowhere/at/all'])
  assert.equal(code, 2)
  assert.equal(stdout, '')
  assert.match(stderr, /^The folder \/nowhere\/at\/all cannot be read: no such file or directory\n/)
})

test('invalid arguments are explained', async () => {
  for (const [args, problem] of [
    [[], 'The folder of the rules is missing.'],
    [['a', 'b'], 'Unexpected argument "b": check takes one folder.'],
    [['--fast', 'a'], 'Unknown option --fast.'],
    [['-config_dir'], '-config_dir needs a folder.'],
    [[''], 'check needs a folder.'],
    [['a', '--json=yes'], '--json must be true or false, not "yes".'],
  ] as const) {
    const { code, stderr } = await run(args)
    assert.equal(code, 2)
    assert.equal(stderr, `${problem}\nSee: ratelimit check --help\n`)
  }
})

test('colors are used only in a terminal', async (t) => {
  const directory = await createFolder(t, { 'a.yaml': bad })
  const plain = await run([directory])
  const coloured = await run([directory], { isTerminal: true })
  const optedOut = await run([directory], { isTerminal: true, env: { NO_COLOR: '1' } })
  assert.ok(!plain.stdout.includes('\x1b'))
  assert.ok(coloured.stdout.includes('\x1b[1;31m^\x1b[0m'))
  assert.equal(stripVTControlCharacters(coloured.stdout), plain.stdout)
  assert.equal(optedOut.stdout, plain.stdout)
})

test('the text of a file cannot control the terminal, and a long line is truncated', async (t) => {
  const line = `${'x'.repeat(300)}\x1b[2J${'y'.repeat(300)}`
  const directory = await createFolder(t, { 'a.yaml': `domain: ${line}\n` })
  const { stdout } = await run([directory])
  const rows = stdout.split('\n')
  assert.ok(!stdout.includes('\x1b'))
  assert.match(rows[0] ?? '', /a\.yaml:1:309: error loading config file: yaml: control characters/)
  assert.ok((rows[1] ?? '').length < 140)
  assert.equal((rows[1] ?? '').indexOf('\ufffd'), (rows[2] ?? '').indexOf('^'))
})

test('rules whose counters can have the same name cause a warning only with compatible keys', async (t) => {
  const limit = 'rate_limit: { unit: minute, requests_per_unit: 5 }'
  const directory = await createFolder(t, {
    'a.yaml': `domain: d
descriptors:
  - key: user
    ${limit}
    descriptors:
      - { key: path, ${limit} }
  - { key: plan, value: free, ${limit} }
  - { key: plan_free, value: x, ${limit} }
  - { key: plan, value: pro, ${limit} }
`,
  })
  assert.deepEqual((await run([directory, '--strict'])).code, 0)
  const env = { CACHE_KEY_FORMAT: 'compatible' }
  const { code, stdout, stderr } = await run([directory, '--strict'], { env })
  assert.equal(code, 1)
  const out = stdout + stderr
  assert.match(out, /a\.yaml:6:.*same name as those of the rule at .*a\.yaml:3/)
  assert.equal(out.match(/can have the same name/g)?.length, 1, out)
  assert.match(out, /CACHE_KEY_FORMAT=exact prevents it/)
})
