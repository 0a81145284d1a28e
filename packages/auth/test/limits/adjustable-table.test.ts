import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { createBuckets } from '../../src/limits/buckets.ts'
import { createAdjustableTable, toLimitTable } from '../../src/limits/limit-table.ts'

const toTable = (otp: string) => toLimitTable(parseConfig({ AUTH_RATE_LIMIT_OTP: otp }).config)

test('a changed limit applies to the requests that were counted before', () => {
  const table = createAdjustableTable(toTable('10'))
  const buckets = createBuckets(table.limits, () => 0)
  const take = () => buckets.take('otp', 'a')
  for (let count = 0; count < 10; count += 1) assert.equal(take(), undefined)
  assert.equal(typeof take(), 'number')
  table.set(toTable('50'))
  assert.equal(typeof take(), 'number', 'a higher limit grants no new burst')
  assert.equal(buckets.take('otp', 'b'), undefined)
  table.set(toTable('off'))
  assert.equal(take(), undefined)
  table.set(toTable('10'))
  assert.equal(typeof take(), 'number', 'the count is still known')
})
