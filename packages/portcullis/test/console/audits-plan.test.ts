import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AuditOrder, parseAuditOrder } from '../../src/console/routes/audits-plan.ts'

function toOrder(url: string, headers?: string): AuditOrder {
  return { url, profile: 'classic', extended: false, ...(headers !== undefined && { headers }) }
}

test('headers are parsed line by line, and empty lines are ignored', () => {
  const text = 'Authorization: Bearer a:b\r\n\n  X-Team :  gate \n'
  const { headers } = parseAuditOrder(toOrder('http://localhost:4000/graphql', text))
  assert.deepEqual(headers, { authorization: 'Bearer a:b', 'x-team': 'gate' })
})

test('fragment and surrounding spaces are removed from the URL', () => {
  assert.equal(parseAuditOrder(toOrder(' https://a.example/g#x ')).url, 'https://a.example/g')
})

const refused: readonly (readonly [about: string, order: AuditOrder, message: RegExp])[] = [
  ['a path', toOrder('/graphql'), /complete URL/],
  ['another protocol', toOrder('file:///etc/passwd'), /complete URL/],
  ['credentials', toOrder('http://me:pass@a.example/'), /credentials from the URL/],
  ['no colon', toOrder('http://a.example/', 'X-A: 1\nsecret-value'), /^Line 2 .*Name: value\.$/],
  [
    'a header of the audits',
    toOrder('http://a.example/', 'Accept: a/b'),
    /header Accept themselves/,
  ],
  [
    'a bad name',
    toOrder('http://a.example/', 'X A: secret-value'),
    /^Line 1 .*HTTP does not allow/,
  ],
]
for (const [about, order, message] of refused) {
  test(`an order with ${about} is refused, and the message repeats no value`, () => {
    assert.throws(
      () => parseAuditOrder(order),
      (error) =>
        error instanceof Error &&
        message.test(error.message) &&
        !/secret-value|pass@/.test(error.message),
    )
  })
}
