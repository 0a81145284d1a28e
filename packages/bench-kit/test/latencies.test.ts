import assert from 'node:assert/strict'
import test from 'node:test'
import { Latencies } from '../src/latencies.ts'

test('quantiles are the upper ends of buckets of 10 µs', () => {
  const latencies = new Latencies()
  for (let ms = 1; ms <= 1000; ms++) latencies.add(ms)
  assert.equal(latencies.count, 1000)
  assert.equal(latencies.quantile(0.5), 500.01)
  assert.equal(latencies.quantile(0.999), 999.01)
  latencies.add(1e9)
  assert.ok(latencies.quantile(1) > 4999)
})
