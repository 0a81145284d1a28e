import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHealth } from '@portcullis/service-kit/process/health'

function createExample({ needsRules = false } = {}) {
  return createHealth({
    store: { isEnabled: true, isHealthy: true },
    rules: { isEnabled: needsRules, isHealthy: false },
    termination: { isEnabled: true, isHealthy: true },
  })
}

test('a component that is not enabled is ignored', () => {
  const health = createExample()
  assert.equal(health.isHealthy, true)
  health.set('rules', true)
  health.set('rules', false)
  assert.equal(health.isHealthy, true)
})

test('one unhealthy component makes the overall state unhealthy', () => {
  const health = createExample({ needsRules: true })
  assert.equal(health.isHealthy, false)
  assert.deepEqual(health.unhealthy, ['rules'])
  health.set('rules', true)
  assert.equal(health.isHealthy, true)
  health.set('store', false)
  health.set('termination', false)
  health.set('store', true)
  assert.deepEqual(health.unhealthy, ['termination'])
})

test('listeners are called on every change of the overall state, and only then', () => {
  const health = createExample()
  const reported: boolean[] = []
  const unsubscribe = health.subscribe((isHealthy) => reported.push(isHealthy))
  health.set('store', true)
  health.set('store', false)
  health.set('termination', false)
  health.set('store', true)
  assert.deepEqual(reported, [false])
  health.set('termination', true)
  assert.deepEqual(reported, [false, true])
  unsubscribe()
  health.set('store', false)
  assert.deepEqual(reported, [false, true])
})
