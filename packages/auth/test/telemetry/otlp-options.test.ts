import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTemporality, toGrpcOptions, toHttpOptions } from '../../src/telemetry/otlp-options.ts'

test('a common endpoint gets the path of the signal, and an endpoint of one signal is used unchanged', () => {
  const shared = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }
  assert.equal(toHttpOptions(shared, 'TRACES').url, 'http://collector:4318/v1/traces')
  assert.equal(toHttpOptions(shared, 'METRICS').url, 'http://collector:4318/v1/metrics')
  const own = { ...shared, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/in' }
  assert.equal(toHttpOptions(own, 'TRACES').url, 'http://traces:4318/in')
  const wrong = { ...shared, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'no url' }
  assert.equal(toHttpOptions(wrong, 'TRACES').url, 'http://collector:4318/v1/traces')
  assert.equal(toHttpOptions({}, 'TRACES').url, undefined)
})

test('headers are decoded, and those of a signal take precedence', () => {
  const variables = {
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20one,tenant=a',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'tenant=b',
  }
  const { headers } = toHttpOptions(variables, 'METRICS')
  assert.deepEqual(headers, { authorization: 'Bearer one', tenant: 'b' })
  const { metadata } = toGrpcOptions(variables, 'METRICS')
  assert.deepEqual(metadata?.getMap(), { authorization: 'Bearer one', tenant: 'b' })
})

test('only the timeouts and compressions of the specification are accepted', () => {
  const good = { OTEL_EXPORTER_OTLP_TIMEOUT: '100', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }
  const { timeoutMillis, compression } = toHttpOptions(good, 'TRACES')
  assert.deepEqual([timeoutMillis, `${compression}`], [100, 'gzip'])
  const bad = { OTEL_EXPORTER_OTLP_TIMEOUT: '-1', OTEL_EXPORTER_OTLP_COMPRESSION: 'zip' }
  const options = toHttpOptions(bad, 'TRACES')
  assert.deepEqual([options.timeoutMillis, options.compression], [undefined, 'none'])
})

test('a gRPC connection is encrypted unless its URL or a variable disables it', () => {
  const isSecure = (endpoint: string, insecure = '') => {
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_INSECURE: insecure,
    }
    return toGrpcOptions(variables, 'TRACES').credentials?._isSecure()
  }
  assert.equal(isSecure('http://collector:4317'), false)
  assert.equal(isSecure('https://collector:4317', 'true'), true)
  assert.equal(isSecure('collector:4317'), true)
  assert.equal(isSecure('collector:4317', ' True '), false)
})

test('temporality is cumulative unless another valid one is configured', () => {
  const name = 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE'
  assert.deepEqual(
    ['Delta', 'lowmemory', 'cumulative', 'other'].map((text) => findTemporality({ [name]: text })),
    [0, 2, 1, 1],
  )
})
