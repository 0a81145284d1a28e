import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '@portcullis/service-kit/log/log'
import { createLeakedPasswords } from '../../src/passwords/password-policy.ts'
import { toDigits } from '../support/leak-service.ts'

/** Creates a leak check whose source responds with `answer`. */
function open(answer: (prefix: string) => string, failsClosed = false) {
  const prefixes: string[] = []
  const log: string[] = []
  const clock = { nowMs: 0 }
  const leaks = createLeakedPasswords({
    source: {
      async readRange(prefix) {
        prefixes.push(prefix)
        return answer(prefix)
      },
    },
    failsClosed,
    log: createLog({ level: 'info', format: 'text', write: (line) => log.push(line) }),
    now: () => clock.nowMs,
  })
  return { leaks, prefixes, log, clock }
}

test('only the first five digits of a hash are sent', async () => {
  const { leaks, prefixes } = open(() => '')
  await leaks.has('correct horse')
  assert.deepEqual(prefixes, [toDigits('correct horse').slice(0, 5)])
})

test('a password is found by the remaining digits of its hash, except in padding entries', async () => {
  const rest = toDigits('password').slice(5)
  const other = toDigits('another').slice(5)
  for (const [range, isFound] of [
    [`${other}:3\r\n${rest}:9659365\r\n`, true],
    [`${rest}:1`, true],
    [`${rest.toLowerCase()}:1\n${other}:1`, true],
    [`${rest}:0\r\n${other}:5`, false],
    [`${other}:5`, false],
    [`${rest.slice(1)}:5\r\n0${rest}:5`, false],
    ['', false],
  ] as const) {
    const { leaks } = open(() => range)
    assert.equal(await leaks.has('password'), isFound, range)
  }
})

test('a range is cached for a while, up to a maximum number', async () => {
  const { leaks, prefixes, clock } = open(() => '')
  await leaks.has('first')
  clock.nowMs = 599_999
  await leaks.has('first')
  assert.equal(prefixes.length, 1)
  clock.nowMs = 600_000
  await leaks.has('first')
  assert.equal(prefixes.length, 2)
  for (let at = 0; at < 100; at++) await leaks.has(`${at}`)
  assert.equal(prefixes.length, 102)
  await leaks.has('99')
  assert.equal(prefixes.length, 102)
  await leaks.has('first')
  assert.equal(prefixes.length, 103)
})

test('if the service fails, a password is accepted with a warning or, when configured, refused', async () => {
  const away = () => {
    throw new Error('leaks.example cannot be reached')
  }
  const { leaks, log, prefixes } = open(away)
  assert.equal(await leaks.has('first'), false)
  assert.match(log.join(), /not be checked for leaks: leaks\.example cannot be reached/)
  await leaks.has('first')
  assert.equal(prefixes.length, 2, 'a failure is not cached')
  await assert.rejects(open(away, true).leaks.has('first'), {
    code: 'unexpected_failure',
    status: 500,
    message: 'Unable to perform password strength check with HaveIBeenPwned.org.',
  })
})
