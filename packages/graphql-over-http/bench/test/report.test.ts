import assert from 'node:assert/strict'
import test from 'node:test'
import { UsageError } from '@portcullis/bench-kit/options'
import { checkGoals } from '../goals.ts'
import type { Sample } from '../measure.ts'
import { parseSettings } from '../settings.ts'

const sample = (perCpuSecond: number): Sample => ({
  perCpuSecond,
  perSecond: perCpuSecond,
  p50Ms: 1,
  p99Ms: 1,
})

test('goals compare with the same round of the other contender, and skip contenders that were not measured', () => {
  const samples = new Map([
    ['portcullis-http', { hello: [sample(90), sample(9)], list: [] }],
    ['limit', { hello: [sample(100), sample(10)], list: [] }],
  ] as const)
  assert.deepEqual(checkGoals(samples, new Map()), [
    { text: 'hello, on node http: 0.9 of the limit', wanted: 0.9, reached: 0.9, isReached: true },
  ])
})

test('invalid options are reported by name', () => {
  const wrong = {
    '--only unknown': /Unknown contender "unknown"\. Choose from: portcullis-http, /,
    '--rounds many': /--rounds must be a whole number above 0, not "many"/,
    '--seconds 0': /--seconds must be a number above 0, not "0"/,
    '--query hallo': /--query must be hello or list, not "hallo"/,
    '--graphql 15': /--graphql must be 16 or 17, not "15"/,
    '--unheard-of': /--unheard-of/,
  }
  for (const [args, message] of Object.entries(wrong)) {
    assert.throws(
      () => parseSettings(args.split(' ')),
      (error) => error instanceof UsageError && message.test(error.message),
    )
  }
})

test('contenders that need graphql 16 are left out of a run with 17', () => {
  const { plan, leftOut } = parseSettings(['--graphql', '17'])
  assert.deepEqual(leftOut, ['mercurius', 'mercurius-jit', 'apollo-server'])
  assert.ok(!plan.contenders.includes('mercurius'))
  assert.ok(plan.contenders.includes('graphql-http'))
})
