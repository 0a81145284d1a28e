import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { parseUpOptions } from '../../src/up/options.ts'
import { listenerNames, listeners, partNames, toFlag } from '../../src/up/ports.ts'
import { upUsage } from '../../src/up/usage.ts'

function parse(...args: string[]) {
  const { options, faults } = { options: undefined, faults: undefined, ...parseUpOptions(args) }
  assert.ok(options, faults?.join('\n'))
  return options
}

function findFaults(...args: string[]): readonly string[] {
  return parseUpOptions(args).faults ?? []
}

test('by default everything starts on its default port, reachable from this machine only', () => {
  const { ports, has, host, folder, isFresh } = parse()
  for (const name of listenerNames) assert.equal(ports[name], listeners[name].port)
  assert.deepEqual([...has], partNames)
  assert.equal(host, '127.0.0.1')
  assert.equal(folder, resolve('.portcullis'))
  assert.equal(isFresh, false)
})

test('every port has an option, which is listed in the help', () => {
  for (const name of listenerNames) {
    assert.equal(parse(`--${toFlag(name)}`, '12345').ports[name], 12_345)
    assert.ok(upUsage.includes(`--${toFlag(name)} PORT`), name)
  }
})

test('a port base gives consecutive ports, and the option of a single port takes precedence', () => {
  const { ports } = parse('--port-base=9000', '--auth-port', '7000')
  assert.deepEqual(
    listenerNames.map((name) => ports[name]),
    [9000, 9001, 7000, 9003, 9004, 9005, 9006, 9007],
  )
  assert.deepEqual(new Set(Object.values(parse('--port-base', '0').ports)), new Set([0]))
})

test('parts are chosen by name, and the console can be left out', () => {
  assert.deepEqual([...parse('--only', 'ratelimit, auth').has], ['auth', 'ratelimit'])
  assert.equal(parse('--no-console').has.has('console'), false)
  assert.equal(parse('--no-console').has.size, partNames.length - 1)
})

test('all errors are reported at once, each with a remedy', () => {
  const args = [
    '--prot',
    '1',
    '--only=auth,mail',
    '--port-base',
    '-1',
    '--fresh=yes',
    '--host',
    'me',
  ]
  assert.deepEqual(findFaults(...args, '--sms-port', '70000', '--data'), [
    'Unknown option --prot.',
    'Unexpected argument "1": up takes only options.',
    '--port-base needs a port: --port-base 9000, or 0 for free ports.',
    '--fresh takes no value.',
    '--data needs a folder: --data DIR.',
    '--only: unknown part "mail"; the parts are console, graphql, auth, ratelimit and mailbox. Did you mean mailbox?',
    '--sms-port must be a number from 0 to 65535, not "70000".',
    '--host must be an IP address such as 127.0.0.1 or 0.0.0.0, not "me".',
  ])
})

test('duplicate ports, and options that leave nothing to start, are errors', () => {
  assert.deepEqual(findFaults('--console-port', '4000'), [
    'Port 4000 is assigned to both the console and the GraphQL API. Change one of them, for example with --graphql-port.',
  ])
  assert.deepEqual(findFaults('--console-port', '4000', '--only', 'console'), [])
  assert.equal(findFaults('--only', 'console', '--no-console').length, 1)
})

test('a public URL and additional host names can be set', () => {
  const { publicUrl, allowedHosts } = parse(
    ...[
      '--public-url',
      'https://Gate.example.com/',
      '--allowed-host',
      'a.test',
      '--allowed-host=b.test',
    ],
  )
  assert.equal(publicUrl, 'https://gate.example.com')
  assert.deepEqual(allowedHosts, ['a.test', 'b.test'])
  assert.equal(parse('--public-url', 'http://[::1]').publicUrl, 'http://[::1]')
  assert.deepEqual(parse().allowedHosts, [])
  for (const url of [
    'gate',
    'ftp://gate',
    'http://gate:80/x',
    'http://gate:80',
    'https://gate:443/',
    'http://gate/x',
    'http://gate/?x',
    'http://gate:3000',
    'http://me@gate',
  ]) {
    assert.match(
      findFaults('--public-url', url).join(),
      /^--public-url must be a scheme and a name/,
    )
  }
  assert.match(
    findFaults('--allowed-host', 'http://a').join(),
    /^--allowed-host must be a host name/,
  )
})
