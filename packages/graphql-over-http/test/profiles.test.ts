/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHandler } from '../src/handler.ts'
import { profiles, STATUS_TEXT } from '../src/profiles.ts'
import { GR, J, post } from './support/request.ts'
import { schema } from './support/schema.ts'

test('both profiles have the same outcomes', () => {
  assert.deepEqual(Object.keys(profiles).toSorted(), ['2026', 'classic'])
  assert.deepEqual(
    Object.keys(profiles.classic).toSorted(),
    Object.keys(profiles['2026']).toSorted(),
  )
})

test('every status of a profile has a text', () => {
  for (const profile of Object.values(profiles)) {
    for (const [statusWhenJson, statusWhenGraphql] of Object.values(profile)) {
      assert.ok(STATUS_TEXT[statusWhenJson])
      assert.ok(STATUS_TEXT[statusWhenGraphql])
    }
  }
})

test('in the profile of 2026 the status of a failure does not depend on the accepted type', () => {
  for (const [statusWhenJson, statusWhenGraphql, type] of Object.values(profiles['2026'])) {
    if (statusWhenGraphql < 300) {
      assert.equal(statusWhenJson, 200)
      assert.equal(type, undefined)
    } else {
      assert.equal(statusWhenJson, statusWhenGraphql)
      assert.equal(type, GR)
    }
  }
})

test('classic is the default', async () => {
  const requests = ['{ hello }', '{', '{ nope }', '{ fail }'].flatMap((query) =>
    [J, GR].map((accept) => post({ query }, { accept })),
  )
  for (const req of requests) {
    const expected = await createHandler({ schema, profile: 'classic' })(req)
    assert.deepEqual(await createHandler({ schema })(req), expected)
  }
})
