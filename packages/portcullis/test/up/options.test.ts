import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { parseUpOptions } from '../../src/up/options.ts'
import { doorNames, doors, partNames, toFlag } from '../../src/up/ports.ts'
import { upUsage } from '../../src/up/usage.ts'

function parse(...args: string[]) {
  const { options, faults } = { options: undefined, faults: undefined, ...parseUpOptions(args) }
  assert.ok(options, faults?.join('\n'))
  return options
}

function findFaults(...args: string[]): readonly string[] {
  return parseUpOptions(args).faults ?? []
}

test('without options everything starts on its usual port, on this machine only', () => {
  const { ports, has, host, folder, isFresh } = parse()
  for (const name of doorNames) assert.equal(ports[name], doors[name].port)
  assert.deepEqual([...has], partNames)
  assert.equal(host, '127.0.0.1')
  assert.equal(folder, resolve('.portcullis'))
  assert.equal(isFresh, false)
})

test('every door has a flag that moves it, and the help names it', () => {
  for (const name of doorNames) {
    assert.equal(parse(`--${toFlag(name)}`, '12345').ports[name], 12_345)
    assert.ok(upUsage.includes(`--${toFlag(name)} PORT`), name)
  }
})

test('a port base gives consecutive ports, and a flag of one door wins over it', () => {
  const { ports } = parse('--port-base=9000', '--auth-port', '7000')
  assert.deepEqual(
    doorNames.map((name) => ports[name]),
    [9000, 9001, 7000, 9003, 9004, 9005, 9006, 9007],
  )
  assert.deepEqual(new Set(Object.values(parse('--port-base', '0').ports)), new Set([0]))
})

test('parts are chosen by name, and the console can be left out', () => {
  assert.deepEqual([...parse('--only', 'ratelimit, auth').has], ['auth', 'ratelimit'])
  assert.equal(parse('--no-console').has.has('console'), false)
  assert.equal(parse('--no-console').has.size, partNames.length - 1)
})

test('all faults are told at once, each with what would be right', () => {
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
    'There is no option --prot.',
    '"1" is no option, and up takes nothing else.',
    '--port-base needs a port: --port-base 9000, or 0 for free ones.',
    '--fresh takes no value.',
    '--data needs a folder: --data DIR.',
    '--only: there is no part "mail"; there are console, graphql, auth, ratelimit and mailbox. Did you mean mailbox?',
    '--sms-port must be a number from 0 to 65535, not "70000".',
    '--host must be an address such as 127.0.0.1 or 0.0.0.0, not "me".',
  ])
})

test('two doors with one port, and nothing to start, are faults', () => {
  assert.deepEqual(findFaults('--console-port', '4000'), [
    'Port 4000 is given to the console and the GraphQL API; --graphql-port moves the second of the two.',
  ])
  assert.deepEqual(findFaults('--console-port', '4000', '--only', 'console'), [])
  assert.equal(findFaults('--only', 'console', '--no-console').length, 1)
})

test('others may be told another address, and browsers may use more names', () => {
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
  assert.match(findFaults('--allowed-host', 'http://a').join(), /^--allowed-host must be a name/)
})
