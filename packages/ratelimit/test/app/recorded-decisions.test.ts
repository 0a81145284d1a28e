import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DecisionRecord, recordDecider } from '../../src/app/recorded-decisions.ts'
import { encodeRequest } from '../../src/protocol/encode.ts'
import { OK, OVER_LIMIT } from '../../src/protocol/message.ts'
import { parseRecordedRequest } from '../../src/tools/index.ts'
import { descriptor, requestFor } from '../support/decider.ts'

const response = {
  overallCode: OVER_LIMIT,
  statuses: [],
  responseHeadersToAdd: [],
  dynamicMetadata: undefined,
} as const

test('decoded and encoded requests are listed with their times and codes, for ratelimit replay', () => {
  const record = new DecisionRecord(10)
  let nowMs = Date.UTC(2026, 0, 1)
  const decider = recordDecider(
    {
      decide: (_request, _deadlineMs, decided) => decided(undefined, response),
      decideEncoded: (_buffer, _start, _end, _deadlineMs, decided) => decided(undefined, response),
    },
    record,
    () => nowMs,
  )
  const plain = requestFor('d', descriptor('user=ada'))
  decider.decide(plain, 5, () => {})
  nowMs += 1_500
  const limit = { requestsPerUnit: 3, unit: 2 }
  const full = {
    domain: 'd',
    hitsAddend: 4,
    descriptors: [{ ...descriptor('user=bob'), limit, hitsAddend: 2, isNegativeHits: true }],
  }
  const { buffer, length } = encodeRequest(full)
  const shared = Buffer.from(buffer.subarray(0, length))
  decider.decideEncoded(shared, 0, length, 5, () => {})
  // The transport reuses its buffer.
  shared.fill(0)

  const lines = [...record.lines()]
  assert.equal(
    lines[0],
    '{"time":"2026-01-01T00:00:00.000Z","domain":"d",' +
      '"descriptors":[{"entries":[{"key":"user","value":"ada"}]}],"code":"OVER_LIMIT"}',
  )
  const [first, second] = lines.map(parseRecordedRequest)
  assert.deepEqual(first, { ...plain, timeMs: Date.UTC(2026, 0, 1) })
  assert.deepEqual(second, { ...full, timeMs: nowMs })
})

test('the oldest decisions are dropped when there are too many, or when they take too much memory', () => {
  const few = new DecisionRecord(3)
  for (const user of ['a', 'b', 'c', 'd', 'e']) {
    few.add(requestFor('d', descriptor(`user=${user}`)), OK, 0)
  }
  assert.deepEqual(usersOf(few), ['c', 'd', 'e'])

  const small = new DecisionRecord(100, 2_500)
  for (const user of ['a', 'b', 'c']) {
    small.add(requestFor('d', descriptor(`user=${user.repeat(600)}`)), OK, 0)
  }
  assert.deepEqual(usersOf(small), ['b', 'c'])
  small.add(requestFor('d', descriptor(`user=${'x'.repeat(10_000)}`)), OK, 0)
  assert.deepEqual(
    usersOf(small),
    ['b', 'c'],
    'a request that is larger than the record is skipped',
  )
})

function usersOf(record: DecisionRecord): (string | undefined)[] {
  return [...record.lines()].map(
    (line) => parseRecordedRequest(line)?.descriptors[0]?.entries[0]?.value[0],
  )
}
