import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countSignIns, signInsCapacity, stepMs } from '../../../src/console/overview/sign-ins.ts'

const now = 1_800_000_000_000

test('a sign-in counts for the minute after it, and then no more', () => {
  const signIns = countSignIns()
  signIns.add(now - 90_000)
  signIns.add(now - 90_000)
  signIns.add(now)
  const points = signIns.perMinute(now)
  const stepsAgo = (steps: number) => points.at(-1 - steps)
  assert.equal(points.length, signInsCapacity)
  assert.equal(stepsAgo(0), 1)
  assert.equal(stepsAgo(90_000 / stepMs), 2)
  assert.equal(stepsAgo(90_000 / stepMs + 1), 0)
  assert.equal(stepsAgo(30_000 / stepMs + 1), 2)
  assert.equal(stepsAgo(30_000 / stepMs), 0)
})

test('what happened before the first point still counts into it', () => {
  const signIns = countSignIns()
  signIns.add(signIns.oldest(now) + 2 * stepMs)
  assert.equal(signIns.perMinute(now)[0], 1)
})

test('what is too old is forgotten, and leaves no point below zero while it goes', () => {
  const signIns = countSignIns()
  signIns.add(now - 3_600_000)
  assert.equal(Math.max(...signIns.perMinute(now)), 0)
  signIns.add(now)
  for (let later = now; later < now + 1_200_000; later += stepMs) {
    const points = signIns.perMinute(later)
    assert.ok(Math.min(...points) === 0 && Math.max(...points) <= 1, `${later - now} ms later`)
  }
})
