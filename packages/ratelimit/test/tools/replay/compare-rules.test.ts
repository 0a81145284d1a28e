import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRules, compareRules, parseRecordedRequest } from '@portcullis/ratelimit/rules'

function rulesOf(limit: string, more = '') {
  const text = `domain: api
descriptors:
  - key: user
    rate_limit: ${limit}
${more}`
  const { rules, findings } = checkRules({
    files: [{ name: 'api.yaml', text }],
    skipped: [],
    unreadable: [],
  })
  assert.deepEqual(findings, [])
  return rules
}

/** One request per second for each of the values. */
function record(...users: string[]) {
  return users.map((value, second) => {
    const time = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
    const descriptors = [{ entries: [{ key: 'user', value }] }]
    const request = parseRecordedRequest(JSON.stringify({ time, domain: 'api', descriptors }))
    assert.ok(request)
    return request
  })
}

const three = rulesOf('{ unit: minute, requests_per_unit: 3 }')

test('requests that only one set of rules allows are counted, with descriptor and limits', async () => {
  const requests = record('ada', 'ada', 'ada', 'ada', 'bob')
  const two = rulesOf('{ unit: minute, requests_per_unit: 2 }')
  const result = await compareRules(three, two, requests)
  assert.deepEqual(
    [result.requests, result.refusedBefore, result.refusedAfter, result.changed, result.undecided],
    [5, 1, 2, 1, 0],
  )
  assert.equal(result.firstMs, Date.UTC(2026, 0, 1))
  assert.equal(result.lastMs, Date.UTC(2026, 0, 1, 0, 0, 4))
  assert.deepEqual(result.changes[0], {
    domain: 'api',
    entries: [{ key: 'user', value: 'ada' }],
    before: { code: 'OK', limit: '3 per minute', rule: 'api.user' },
    after: { code: 'OVER_LIMIT', limit: '2 per minute', rule: 'api.user' },
    requests: 1,
  })
  // The others keep their decision, but under another limit.
  assert.deepEqual(
    result.changes.slice(1).map(({ entries, requests: count }) => [entries[0]?.value, count]),
    [
      ['ada', 2],
      ['ada', 1],
      ['bob', 1],
    ],
  )
})

test('the same rules change nothing, and a rule that no longer matches has no limit', async () => {
  const requests = record('ada', 'ada')
  const same = await compareRules(three, three, requests)
  assert.deepEqual([same.changed, same.changes], [0, []])
  const none = checkRules({ files: [], skipped: [], unreadable: [] }).rules
  const { changes } = await compareRules(three, none, requests)
  assert.deepEqual(changes[0]?.after, { code: 'OK', limit: undefined, rule: undefined })
})

test('the list of changes is bounded, and nothing recorded gives an empty result', async () => {
  const one = rulesOf('{ unit: minute, requests_per_unit: 1 }')
  const requests = record(...Array.from({ length: 30 }, (_, index) => `user ${index}`))
  const { changes, otherChanges } = await compareRules(three, one, requests, { mostChanges: 10 })
  assert.deepEqual([changes.length, otherChanges], [10, 20])
  const empty = await compareRules(three, one, [])
  assert.deepEqual([empty.requests, empty.firstMs, empty.changes], [0, undefined, []])
})

test('other work of the process runs during a long comparison', async () => {
  let turns = 0
  const countTurns = () => {
    turns += 1
    turn = setImmediate(countTurns)
  }
  let turn = setImmediate(countTurns)
  const requests = record(...Array.from({ length: 1_000 }, () => 'ada'))
  const turnsByRequest: number[] = []
  function* observed() {
    for (const request of requests) {
      turnsByRequest.push(turns)
      yield request
    }
  }
  const { requests: count, refusedBefore } = await compareRules(three, three, observed())
  clearImmediate(turn)
  assert.deepEqual([count, refusedBefore], [1_000, 1_000 - 3 * 17])
  assert.ok((turnsByRequest.at(-1) ?? 0) >= 4, `${turnsByRequest.at(-1)} turns`)
})

test('a line that is not a request is not parsed', () => {
  assert.equal(parseRecordedRequest('/stats: print out stats'), undefined)
  assert.equal(parseRecordedRequest('{"time":1}'), undefined)
})
