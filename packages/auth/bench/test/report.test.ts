import assert from 'node:assert/strict'
import test from 'node:test'
import { formatGoals } from '@portcullis/bench-kit/goals'
import { cases } from '../cases.ts'
import { checkGoals } from '../goals.ts'
import { type Sample, type Series, toSample } from '../measure.ts'
import { drawScores, formatScores } from '../report.ts'
import { toScores } from '../results.ts'
import type { ContestantName } from '../servers/contestants.ts'
import { toServerName } from '../servers/server-process.ts'

const sample = (changes: Partial<Sample> = {}): Sample => ({
  calls: 1000,
  perSecond: 1000,
  perCpuSecond: 2000,
  p50Ms: 1,
  p99Ms: 2,
  databaseMicroseconds: 100,
  serverCores: 0.5,
  loadCores: 0.1,
  probeP99Ms: undefined,
  errors: 0,
  firstError: undefined,
  ...changes,
})

function series(name: string, contestant: ContestantName, samples: readonly Sample[]): Series {
  const one = cases.find((candidate) => candidate.name === name)
  assert.ok(one, name)
  return { case: one, contestant, label: contestant, samples }
}

const rates = (...values: readonly number[]) => values.map((perSecond) => sample({ perSecond }))

test('servers are compared by round, so that a slow round affects all of them', () => {
  const all = [
    series('refresh', 'ours', rates(4000, 400, 4400)),
    series('refresh', 'peer', rates(1000, 100, 1000)),
  ]
  const [ours, peer] = toScores(all)
  assert.equal(ours?.timesPeer, 4)
  assert.equal(peer?.timesPeer, null)
})

test('goals are reached, missed, or unknown without a peer', () => {
  const logins = [
    sample({ perSecond: 24, perCpuSecond: 12.5 }),
    sample({ perSecond: 25, perCpuSecond: 12.5 }),
  ]
  const probed = [sample({ probeP99Ms: 60 }), sample({ probeP99Ms: 62 })]
  const bcrypt = { perSecond: 25, perCpuSecond: 13 }
  const goals = checkGoals({
    series: [
      series('refresh', 'ours', rates(700)),
      series('refresh', 'peer', rates(100)),
      series('user', 'ours', rates(500)),
      series('login', 'ours', logins),
      series('login-probed', 'ours', probed),
    ],
    bcrypt: [bcrypt, bcrypt],
    idleMegabytes: 120,
    workers: 4,
    cores: 8,
  })
  const outcomeOf = (start: string) => {
    const goal = goals.find(({ text }) => text.startsWith(start))
    return [goal?.reached, goal?.isReached]
  }
  assert.deepEqual(outcomeOf('refresh'), [7, true])
  assert.deepEqual(outcomeOf('GET /user'), [null, null])
  assert.deepEqual(outcomeOf('password logins per CPU second'), [0.962, false])
  assert.deepEqual(outcomeOf('password logins per second'), [0.98, true])
  assert.deepEqual(outcomeOf('p99 of GET /user'), [61, false])
  assert.deepEqual(outcomeOf('resident memory'), [120, true])
  const text = formatGoals(goals)
  assert.match(text, /reached +refresh: .*: 7\.00 \(wanted at least 6\)/)
  assert.match(text, /missed +p99 of GET \/user.*: 61\.0 \(wanted at most 50\)/)
  assert.match(text, /unknown +GET \/user: .*not measured/)
})

test('workers are compared with one worker, by requests only if the machine has enough cores', () => {
  const samples = [sample({ perSecond: 3500, perCpuSecond: 1600 })]
  const outcomesOn = (cores: number, workerCores?: number) =>
    checkGoals({
      series: [
        series('user-scaled', 'ours', [sample()]),
        series('user-scaled', 'workers', samples),
      ],
      bcrypt: [],
      idleMegabytes: 120,
      workers: 4,
      workerCores,
      cores,
    })
      .filter(({ text }) => /with 4 workers: .* of one worker/.test(text))
      .map(({ wanted, reached, isReached }) => [wanted, reached, isReached])
  assert.deepEqual(outcomesOn(8), [
    [3.4, 3.5, true],
    [1.1, 1.25, false],
  ])
  assert.deepEqual(outcomesOn(7), [
    [3.4, null, null],
    [1.1, 1.25, false],
  ])
  assert.deepEqual(outcomesOn(2, 0.25), outcomesOn(8))
})

test('the table names failures, and the chart has a bar for each server', () => {
  const scores = toScores([
    series('user', 'ours', [sample({ errors: 3, firstError: '500 oh' })]),
    series('user', 'peer', [sample()]),
  ])
  assert.match(formatScores(scores), /GET \/user, ours: 3 failed, the first: 500 oh/)
  const svg = drawScores(scores, 'a note')
  assert.equal(svg.match(/<rect/g)?.length, 2)
})

test('CPU time is reported per request and per second', () => {
  const outcome = {
    calls: 500,
    errors: 0,
    firstError: undefined,
    seconds: 2,
    loadCpuSeconds: 0.5,
    p50Ms: 1,
    p99Ms: 2,
    probeP99Ms: undefined,
    credentials: [],
  }
  const { perSecond, perCpuSecond, databaseMicroseconds, loadCores } = toSample(outcome, {
    serverSeconds: 0.25,
    databaseSeconds: 0.1,
  })
  assert.deepEqual(
    [perSecond, perCpuSecond, databaseMicroseconds, loadCores],
    [250, 2000, 200, 0.25],
  )
})

test('a server is named after its health response', () => {
  assert.equal(
    toServerName({ name: 'GoTrue', version: 'v2.1.0', description: 'x' }),
    'GoTrue v2.1.0',
  )
  assert.equal(toServerName({ version: 3 }), 'a server without a name')
  assert.equal(toServerName(null), 'a server without a name')
})
