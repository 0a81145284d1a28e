import assert from 'node:assert/strict'
import test from 'node:test'
import { checkGoals, isLoadBound } from '../goals.ts'
import { type Sample, type Series, toSample } from '../measure.ts'
import { formatShapeTable } from '../report.ts'
import { toScores } from '../results.ts'
import { groups } from '../scenarios.ts'
import { type Peer, withContendersFor } from '../servers/contestants.ts'

const sample = (changes: Partial<Sample>): Sample => ({
  perCpuSecond: 1000,
  perSecond: 1000,
  p50Ms: 1,
  p99Ms: 2,
  p999Ms: 3,
  serverCores: 1,
  loadCores: 0.1,
  storeCores: 0,
  errors: 0,
  ...changes,
})

function series(shapeName: string, contenderName: string, samples: readonly Sample[]): Series {
  const group = groups.find(({ shapes }) => shapes.some(({ name }) => name === shapeName))
  const shape = group?.shapes.find(({ name }) => name === shapeName)
  const contender = group?.contenders.find(({ name }) => name === contenderName)
  assert.ok(group && shape && contender, `${shapeName} ${contenderName}`)
  return { group, shape, contender, samples }
}

test('goals compare with the same round of the peer, and skip what was not measured', () => {
  const measured = {
    series: [
      series('8x64', 'redis', [
        sample({ perCpuSecond: 90, perSecond: 60 }),
        sample({ perCpuSecond: 9, perSecond: 6 }),
      ]),
      series('8x64', 'peer-redis', [
        sample({ perCpuSecond: 10, perSecond: 10 }),
        sample({ perCpuSecond: 1, perSecond: 1 }),
      ]),
      series('10-descriptors', 'redis', [sample({ perCpuSecond: 150 })]),
      series('10-descriptors', 'peer-redis', [sample({ perCpuSecond: 10 })]),
    ],
    memory: undefined,
    pauses: [
      { name: 'reload', label: '', longestMs: 20.5, longestCpuMs: 1, longestGcMs: 1 },
    ] as const,
  }
  assert.deepEqual(
    checkGoals(measured).map(({ wanted, reached, isReached }) => [wanted, reached, isReached]),
    [
      [10, 9, false],
      [6, 6, true],
      [15, 15, true],
      [20, 20.5, false],
    ],
  )
})

test('a lower cost, CPU share or latency is the better one', () => {
  const measured = {
    series: [
      series('5000/s', 'redis', [sample({ serverCores: 0.2, p99Ms: 2 })]),
      series('5000/s', 'peer-redis', [sample({ serverCores: 0.8, p99Ms: 1.9 })]),
      series('rules', 'memory@10', [sample({ perCpuSecond: 1000 })]),
      series('rules', 'memory@100000', [sample({ perCpuSecond: 900 })]),
    ],
    memory: { counters: 1, bytesPerCounter: 120, residentBytesPerCounter: 300 },
    pauses: [],
  }
  assert.deepEqual(
    checkGoals(measured).map(({ reached, isReached }) => [reached, isReached]),
    [
      [0.25, true],
      [1.053, false],
      [1.111, true],
      [120, true],
    ],
  )
})

test('every contender is compared with one of its group', () => {
  for (const { contenders } of groups) {
    const names = contenders.map(({ name }) => name)
    assert.equal(new Set(names).size, names.length)
    for (const { program, comparedWith } of contenders) {
      assert.equal(comparedWith !== undefined && names.includes(comparedWith), program === 'ours')
    }
  }
})

test('a peer that is already running is measured only with matching settings', () => {
  const target = { host: 'localhost', port: 8081 }
  const peers = (peer: Peer) =>
    groups.map((group) =>
      withContendersFor(peer, group)
        .contenders.filter(({ program }) => program === 'peer')
        .map(({ name }) => name),
    )
  const once = ['peer-redis']
  assert.deepEqual(peers({ kind: 'running', target, pid: undefined }), [once, once, once, once])
  assert.deepEqual(peers({ kind: 'none' }), [[], [], [], []])
  assert.equal(peers({ kind: 'program', file: '' })[2]?.length, 3)
})

test('scores contain the ratio to the peer and the failed calls', () => {
  const scores = toScores([
    series('8x64', 'memory', [sample({ perCpuSecond: 300, errors: 2 })]),
    series('8x64', 'peer-redis', [sample({ perCpuSecond: 20 })]),
  ])
  assert.equal(scores[0]?.timesPeer, 15)
  assert.equal(scores[0]?.errors, 2)
  assert.equal(scores[1]?.timesPeer, null)
})

test('the table marks when the load generator was the bottleneck', () => {
  const busy = [sample({ loadCores: 0.98, serverCores: 0.5 })]
  assert.equal(isLoadBound(busy), true)
  assert.equal(isLoadBound([sample({ loadCores: 0.98, serverCores: 0.97 })]), false)
  const { group, shape } = series('8x64', 'memory', busy)
  const table = formatShapeTable(toScores([series('8x64', 'memory', busy)]), group, shape)
  assert.match(table, /1,000\*/)
  assert.match(table, /load generator was the bottleneck/)
})

test('a steady load is never called load-bound', () => {
  const busy = [sample({ loadCores: 0.98, serverCores: 0.1 })]
  assert.equal(toScores([series('5000/s', 'memory', busy)])[0]?.isLoadBound, false)
})

test('a slice contains calls per CPU-second of the server and the cores of all processes', () => {
  const outcome = {
    calls: 1000,
    ok: 1000,
    overLimit: 0,
    errors: 0,
    seconds: 2,
    loadCpuSeconds: 1,
    p50Ms: 1,
    p99Ms: 2,
    p999Ms: 3,
  }
  const { perCpuSecond, perSecond, serverCores, loadCores, storeCores } = toSample(outcome, {
    serverSeconds: 0.5,
    storeSeconds: 0.2,
  })
  assert.deepEqual(
    { perCpuSecond, perSecond, serverCores, loadCores, storeCores },
    { perCpuSecond: 2000, perSecond: 500, serverCores: 0.25, loadCores: 0.5, storeCores: 0.1 },
  )
})
