import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseArguments } from '../src/cli/args.ts'
import { runCommand } from './support/audit-command.ts'

const url = 'http://localhost:4000/graphql'

describe('the arguments', () => {
  test('have defaults for everything but the URL', () => {
    assert.deepEqual(parseArguments(['audit', url]), {
      command: 'audit',
      url,
      headers: {},
      profile: 'classic',
      extended: false,
      json: false,
      failOn: 'error',
      timeoutMs: 30_000,
    })
  })

  test('may come in any order and with an equals sign', () => {
    const args = parseArguments([
      '--profile=2026',
      'audit',
      '--header',
      'A: 1',
      url,
      '--header=a:2',
      '--html=out.html',
      '--fail-on=warn',
      '--timeout=1.5',
      '--extended',
      '--json',
    ])
    assert.deepEqual(args, {
      command: 'audit',
      url,
      headers: { a: '1, 2' },
      profile: '2026',
      extended: true,
      json: true,
      html: 'out.html',
      failOn: 'warn',
      timeoutMs: 1500,
    })
  })

  test('lose the fragment of the URL', () => {
    const args = parseArguments(['audit', `${url}?a=b#c`])
    assert.equal('url' in args && args.url, `${url}?a=b`)
  })

  const mistakes: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [[], /^The command is missing\. Commands: audit\.\nSee: graphql-over-http audit --help$/],
    [['audit'], /^The URL of the server is missing/],
    [['check', url], /^Unknown command "check"\. Commands: audit\.\nSee: /],
    [['audit', url, '--jsno'], /^Unknown option --jsno\. Did you mean --json\?\nSee: /],
    [['audit', url, '--fail'], /^Unknown option --fail\. Did you mean --fail-on\?\nSee: /],
    [['audit', url, url], /^Unexpected argument "\S+": audit takes one URL\./],
    [['audit', 'localhost:4000/graphql'], /is not a web address: start it with http/],
    [['audit', 'graphql'], /^graphql is not a web address/],
    [['audit', 'http://me:secret@host/'], /^Leave the credentials out of the URL/],
    [['audit', url, '--verbose'], /^Unknown option --verbose\.\nSee: /],
    [['audit', url, '-x'], /^Unknown option -x/],
    [['audit', url, '--html'], /^--html needs a value\./],
    [['audit', url, '--json=yes'], /^--json takes no value\./],
    [['audit', url, '--profile', '2025'], /^--profile must be classic or 2026, not "2025"\./],
    [['audit', url, '--fail-on', 'notice'], /^--fail-on must be error or warn, not "notice"\./],
    [
      ['audit', url, '--timeout', 'soon'],
      /^--timeout must be a number of seconds up to 3600, not "/,
    ],
    [['audit', url, '--timeout', '0'], /^--timeout must be a number of seconds up to 3600, not "/],
    [
      ['audit', url, '--header', 'Authorization'],
      /^--header must be a name, a colon and a value\./,
    ],
    [['audit', url, '--header', ': x'], /^--header must be a name, a colon and a value\./],
    [['audit', url, '--header', 'Accept: text/html'], /^The header Accept cannot be set/],
    [['audit', url, '--header', 'a b: secret'], /^The header "a b" contains characters/],
    [['audit', url, '--header', 'a: sec\nret'], /^The header "a" contains characters/],
  ]
  for (const [args, message] of mistakes) {
    test(`are refused: ${JSON.stringify(args)}`, () => {
      assert.throws(() => parseArguments(args), { name: 'CommandError', message })
      assert.throws(
        () => parseArguments(args),
        (error: Error) => !error.message.includes('secret'),
      )
    })
  }
})

test('--help explains every option and exits with 0', async () => {
  const { code, stdout, stderr } = await runCommand(['--help'])
  assert.equal(code, 0)
  assert.equal(stderr, '')
  assert.match(stdout, /^Usage: graphql-over-http audit URL/)
  const flags = 'header profile extended json html fail-on timeout help version'.split(' ')
  for (const flag of flags) assert.match(stdout, new RegExp(`\\n {2}--${flag}\\b`))
})

test('--version prints the version of the package', async () => {
  const { default: manifest } = await import('../package.json', { with: { type: 'json' } })
  const { code, stdout } = await runCommand(['--version'])
  assert.equal(code, 0)
  assert.equal(stdout, `${manifest.version}\n`)
})
