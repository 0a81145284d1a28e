import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AuditSettings, parseAuditSettings } from '../../src/console/routes/audits-plan.ts'

function toSettings(url: string, headers?: string): AuditSettings {
  return { url, profile: 'classic', extended: false, ...(headers !== undefined && { headers }) }
}

test('headers are parsed line by line, and empty lines are ignored', () => {
  const text = 'Authorization: Bearer a:b\r\n\n  X-Team :  gate \n'
  const { headers } = parseAuditSettings(toSettings('http://localhost:4000/graphql', text))
  assert.deepEqual(headers, { authorization: 'Bearer a:b', 'x-team': 'gate' })
})

test('fragment and surrounding spaces are removed from the URL', () => {
  assert.equal(parseAuditSettings(toSettings(' https://a.example/g#x ')).url, 'https://a.example/g')
})

const refused: readonly (readonly [about: string, settings: AuditSettings, message: RegExp])[] = [
  ['a path', toSettings('/graphql'), /complete URL/],
  ['another protocol', toSettings('file:///etc/passwd'), /complete URL/],
  ['credentials', toSettings('http://me:pass@a.example/'), /credentials from the URL/],
  ['no colon', toSettings('http://a.example/', 'X-A: 1\nsecret-value'), /^Line 2 .*Name: value\.$/],
  [
    'a header of the audits',
    toSettings('http://a.example/', 'Accept: a/b'),
    /^Remove the header Accept: the audits set it\.$/,
  ],
  [
    'a bad name',
    toSettings('http://a.example/', 'X A: secret-value'),
    /^Line 1 .*HTTP does not allow/,
  ],
]
for (const [about, settings, message] of refused) {
  test(`settings with ${about} are refused, and the message repeats no value`, () => {
    assert.throws(
      () => parseAuditSettings(settings),
      (error) =>
        error instanceof Error &&
        message.test(error.message) &&
        !/secret-value|pass@/.test(error.message),
    )
  })
}
