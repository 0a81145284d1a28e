import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { commands } from '../../src/commands/index.ts'
import { policyTests } from '../../src/commands/policy-tests.ts'
import { createFolder, type RunOptions, runCommand } from '../support/run-command.ts'

const rules = `domain: api
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 5 }
`

const passing = `domain: api
tests:
  - name: a user gets 5 calls
    steps: [{ request: { descriptors: [{ user: a }] }, times: 5, expect: ok }]
`

const failing = `domain: api
tests:
  - name: a user gets 6 calls
    steps:
      - request: { descriptors: [{ user: "a\\e[2J" }] }
        times: 6
        expect: ok
  - name: a usr is limited
    steps:
      - request: { descriptors: [{ usr: a }] }
        expect: { limit: 5/minute }
`

const run = (args: readonly string[], options?: RunOptions) =>
  runCommand(policyTests, args, options)

suite('the test command', () => {
  test('is registered', async () => {
    assert.equal(await commands['test']?.(), policyTests)
  })

  test('lists the tests that passed', async (t) => {
    const directory = await createFolder(t, { 'api.yaml': rules, 'api.test.yaml': passing })
    const { code, out, err } = await run([directory])
    assert.deepEqual([code, err], [0, ''])
    assert.equal(
      out,
      `${join(directory, 'api.test.yaml')}
  ok    a user gets 5 calls

1 test passed, 1 file with 5 requests
`,
    )
  })

  test('shows expected and actual values, their place, and the rule', async (t) => {
    const directory = await createFolder(t, {
      'api.yaml': rules,
      'a.test.yaml': passing,
      'b.test.yaml': failing,
    })
    const { code, out } = await run([directory])
    assert.equal(code, 1)
    const file = join(directory, 'b.test.yaml')
    assert.ok(
      out.endsWith(`  FAIL  a user gets 6 calls
  FAIL  a usr is limited

a user gets 6 calls
${file}:7:17: expected ok, got over_limit
    7 |         expect: ok
      |                 ^
      call 6 of 6, 2026-01-01T00:00:00Z, domain api
      (user=a\ufffd[2J): over_limit, 0 remaining, reset in 60s
        rule api.user at ${join(directory, 'api.yaml')}:3:5: 5 per minute, fixed_window

a usr is limited
${file}:11:26: expected limit 5 per minute, got none
   11 |         expect: { limit: 5/minute }
      |                          ^
      2026-01-01T00:00:00Z, domain api
      (usr=a): ok, 0 remaining
        no rule
        - the only key at the top level is 'user': did you mean 'user'?

2 of 3 tests failed, 2 files with 12 requests
`),
      out,
    )
    assert.ok(!out.includes('\x1b'))
  })

  test('uses colors only in a terminal, and not with NO_COLOR', async (t) => {
    const directory = await createFolder(t, { 'api.yaml': rules, 'b.test.yaml': failing })
    const plain = await run([directory])
    const coloured = await run([directory], { isTerminal: true })
    assert.ok(coloured.out.includes('\x1b[31mFAIL'))
    assert.equal(stripVTControlCharacters(coloured.out), plain.out)
    const refused = await run([directory], { isTerminal: true, env: { NO_COLOR: '1' } })
    assert.equal(refused.out, plain.out)
  })

  test('shows the errors of all files, and then runs no tests', async (t) => {
    const directory = await createFolder(t, {
      'api.yaml': rules.replace('minute', 'fortnight'),
      'a.test.yaml': passing.replace('expect: ok', 'expect: maybe'),
      'b.test.yaml': 'tests:\n  - nam: x\n',
    })
    await writeFile(join(directory, 'c.test.yaml'), Uint8Array.of(0xff))
    const { code, out } = await run([directory])
    assert.equal(code, 1)
    const path = (name: string) => join(directory, name)
    const rows = out.split('\n').filter((row) => row.includes(directory))
    assert.deepEqual(rows, [
      `${path('a.test.yaml')}:4:74: code must be ok or over_limit, not the text 'maybe'`,
      `${path('api.yaml')}:4:25: invalid rate limit unit 'fortnight'`,
      `${path('b.test.yaml')}:2:5: a test has no field 'nam'`,
      `error reading file ${path('c.test.yaml')}: the file is not UTF-8 text`,
    ])
    assert.ok(out.endsWith('4 errors: no test was run\n'))
    const json = JSON.parse((await run([directory, '--json'])).out)
    assert.equal(json.ok, false)
    assert.equal(json.findings.length, 4)
  })

  test('reads rules from another folder with --rules, and merges domains with --merge', async (t) => {
    const other = 'domain: api\ndescriptors: [{ key: other }]\n'
    const ruleDirectory = await createFolder(t, { 'a.yaml': rules, 'b.yaml': other })
    const testDirectory = await createFolder(t, { 'api.test.yaml': passing })
    const alone = await run([testDirectory])
    assert.equal(alone.code, 2)
    assert.match(
      alone.err,
      /contains no rules \(\*\.yaml\)\. Set the folder of the rules with --rules DIR\.\n$/,
    )
    const clash = await run([testDirectory, '--rules', ruleDirectory])
    assert.equal(clash.code, 1)
    assert.match(clash.out, /duplicate domain 'api'/)
    assert.equal((await run([testDirectory, '--rules', ruleDirectory, '--merge'])).code, 0)
  })

  test('runs only the tests that match a filter', async (t) => {
    const directory = await createFolder(t, {
      'api.yaml': rules,
      'a.test.yaml': passing,
      'b.test.yaml': failing,
    })
    assert.match((await run([directory, '--filter', 'GETS 5'])).out, /^1 test passed, 1 file/m)
    assert.match((await run([directory, '--filter=b.test'])).out, /^2 of 2 tests failed, 1 file/m)
    const none = await run([directory, '--filter', 'nothing'])
    assert.deepEqual([none.code, none.out], [1, ''])
    const contents = `The folder ${directory} contains 3 tests.`
    assert.equal(none.err, `No test has "nothing" in its path or name. ${contents}\n`)
  })

  test('fails if there are no tests', async (t) => {
    const directory = await createFolder(t, { 'api.yaml': rules })
    const { code, err } = await run([directory])
    assert.equal(code, 1)
    assert.equal(err, `The folder ${directory} contains no policy tests (*.test.yaml).\n`)
  })

  test('prints everything as JSON', async (t) => {
    const directory = await createFolder(t, { 'api.yaml': rules, 'b.test.yaml': failing })
    const { code, out } = await run([directory, '--json', '--filter', '6 calls'])
    assert.equal(code, 1)
    const { tests, ...summary } = JSON.parse(out)
    assert.deepEqual(summary, { ok: false, passed: 0, failed: 1, findings: [] })
    assert.deepEqual(tests, [
      {
        name: 'a user gets 6 calls',
        path: join(directory, 'b.test.yaml'),
        line: 3,
        column: 5,
        ok: false,
        requests: 6,
        failure: {
          mismatches: [
            { line: 7, column: 17, field: 'code', expected: 'ok', actual: 'over_limit' },
          ],
          time: '2026-01-01T00:00:00Z',
          call: 6,
          times: 6,
          domain: 'api',
          descriptors: [
            {
              entries: [{ key: 'user', value: 'a\x1b[2J' }],
              code: 'over_limit',
              remaining: 0,
              resetSeconds: 60,
              outcome: 'limited',
              rule: 'api.user',
              place: { file: join(directory, 'api.yaml'), line: 3, column: 5 },
              limit: '5 per minute',
              algorithm: 'fixed_window',
              nearMisses: [],
            },
          ],
        },
      },
    ])
  })

  test('writes JUnit XML without characters that XML does not allow', async (t) => {
    const directory = await createFolder(t, {
      'api.yaml': rules,
      'a.test.yaml': passing
        .replace('a user gets', '"<a> & \\"b\\" gets')
        .replace('calls', 'calls"'),
      'b.test.yaml': failing,
    })
    const file = join(directory, 'results.xml')
    assert.equal((await run([directory, '--junit', file])).code, 1)
    const xml = await readFile(file, 'utf8')
    assert.match(xml, /^<testsuites name="policy tests" tests="3" failures="2" errors="0"/m)
    assert.equal(xml.match(/<testsuite /g)?.length, 2)
    assert.match(xml, /<testcase name="&lt;a&gt; &amp; &quot;b&quot; gets 5 calls" .*line="3"\/>/)
    assert.match(xml, /<failure message="expected ok, got over_limit">.*:7:17: expected ok/)
    assert.ok(!xml.includes('\x1b'))
  })

  test('says when the results cannot be written', async (t) => {
    const directory = await createFolder(t, { 'api.yaml': rules, 'a.test.yaml': passing })
    const { code, err } = await run([directory, '--junit', join(directory, 'no/such/file.xml')])
    assert.equal(code, 2)
    assert.match(err, /^The results cannot be written to .*file\.xml: no such file or directory\n/)
  })

  const misuses: readonly [args: string[], message: RegExp][] = [
    [[], /^The folder of the tests is missing\.\n/],
    [['a', 'b'], /^Unexpected argument "b": test takes one folder\.\n/],
    [['a', '--fast'], /^Unknown option --fast\.\n/],
    [['a', '--filter'], /^--filter needs a value\.\n/],
  ]
  for (const [args, message] of misuses) {
    test(`refuses '${args.join(' ')}' and refers to the help`, async () => {
      const { code, out, err } = await run(args)
      assert.deepEqual([code, out], [2, ''])
      assert.match(err, message)
      assert.ok(err.endsWith('\nSee: ratelimit test --help\n'))
    })
  }

  test('says when the folder cannot be read', async () => {
    const { code, err } = await run(['/nowhere/at/all'])
    assert.equal(code, 2)
    assert.match(err, /^The folder \/nowhere\/at\/all cannot be read: no such file or directory\n/)
  })

  test('the example in its help works', async (t) => {
    const [, example = ''] = /A test file:\n\n(.*?)\n\n[A-Z]/s.exec(policyTests.usage) ?? []
    const text = example.replaceAll(/^ {2}/gm, '')
    const directory = await createFolder(t, { 'api.yaml': rules, 'api.test.yaml': text })
    const { code, out } = await run([directory])
    assert.equal(code, 0, out)
    assert.match(out, /1 test passed, 1 file with 7 requests/)
  })
})
