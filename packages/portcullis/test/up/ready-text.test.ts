import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { listReachable } from '../../src/up/addresses.ts'
import { type PartName, partNames, toPorts } from '../../src/up/ports.ts'
import { type ReadyInfo, toReadyText } from '../../src/up/ready-text.ts'

const world: ReadyInfo = {
  host: '127.0.0.1',
  ports: toPorts((_name, index) => 9000 + index),
  has: new Set(partNames),
  folder: '/data',
  version: '1.2.3',
  isFirstStart: true,
  secrets: { jwtSecret: 'a-signing-secret', consoleToken: 'the-token', smsSecret: 'an-sms-secret' },
}

function having(...names: PartName[]): ReadyInfo {
  return { ...world, has: new Set(names) }
}

const toCommands = (text: string) => text.match(/^ {2}curl .*$/gm) ?? []

test('a terminal gets the same text in colours', () => {
  const plain = toReadyText(world, false)
  const colored = toReadyText(world, true)
  assert.notEqual(colored, plain)
  assert.equal(stripVTControlCharacters(colored), plain)
})

test('the text contains the console token, but no other secret', () => {
  const text = toReadyText(world, false)
  assert.ok(text.includes('  Console      http://localhost:9000/?token=the-token\n'))
  assert.doesNotMatch(text, /secret/)
})

test('at most three commands are suggested, only for running parts', () => {
  assert.equal(toCommands(toReadyText(world, false)).length, 3)
  for (const command of toCommands(toReadyText(having('auth'), false))) {
    assert.match(command, /http:\/\/localhost:9002\//)
  }
  assert.doesNotMatch(toReadyText(having('mailbox'), false), /Try/)
})

test('commands to try are shown at the first start only', () => {
  assert.doesNotMatch(toReadyText({ ...world, isFirstStart: false }, false), /Try|curl/)
})

test('printed addresses follow the listen address and the public URL', () => {
  const toAddress = (changes: Partial<ReadyInfo>) =>
    /Auth +(\S+)/.exec(toReadyText({ ...world, ...changes }, false))?.[1]
  assert.equal(toAddress({}), 'http://localhost:9002')
  // Only 127.0.0.1 is localhost.
  assert.equal(toAddress({ host: '127.0.0.2' }), 'http://127.0.0.2:9002')
  assert.equal(toAddress({ host: '::1' }), 'http://[::1]:9002')
  const [reachable = 'localhost'] = listReachable('0.0.0.0')
  assert.equal(toAddress({ host: '0.0.0.0' }), `http://${reachable}:9002`)
  const publicUrl = 'https://gate.example.com'
  assert.equal(toAddress({ host: '0.0.0.0', publicUrl }), 'https://gate.example.com:9002')
  assert.match(
    toReadyText({ ...world, publicUrl }, false),
    /gRPC gate\.example\.com:9004, debug pages https/,
  )
})

test('a warning is printed if other machines can reach the servers', () => {
  assert.doesNotMatch(toReadyText(world, false), /WARNING/)
  const warning =
    /WARNING: other machines can reach these servers\. .* on 0\.0\.0\.0.*only by the token/s
  assert.match(toReadyText({ ...world, host: '0.0.0.0' }, false), warning)
  assert.match(toReadyText({ ...world, host: '192.0.2.7' }, false), /http:\/\/192\.0\.2\.7:9002\n/)
})
