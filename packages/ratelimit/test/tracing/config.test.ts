import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../src/config/config.ts'

test('enabled tracing has the documented defaults', () => {
  const { config, faults } = parseConfig({
    TRACING_ENABLED: 'true',
    TRACING_SERVICE_INSTANCE_ID: 'me',
  })
  assert.deepEqual(faults, [])
  assert.deepEqual(config.tracing, {
    protocol: 'http',
    serviceName: 'RateLimit',
    serviceNamespace: '',
    serviceInstanceId: 'me',
    samplingRate: 1,
    batchDelayMs: 5_000,
    batchTimeoutMs: 30_000,
    queueSize: 2_048,
    batchSize: 128,
    maxAttributeLength: 8_192,
  })
})

test('an invalid sampling rate and a queue size of 0 are refused', () => {
  const { faults } = parseConfig({
    TRACING_ENABLED: 'true',
    TRACING_SAMPLING_RATE: '1.5',
    OTEL_BSP_MAX_QUEUE_SIZE: '0',
    OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: 'none',
  })
  const texts = faults.map(toFaultText).join('\n')
  assert.match(texts, /TRACING_SAMPLING_RATE="1.5"/)
  assert.match(texts, /OTEL_BSP_MAX_QUEUE_SIZE="0"/)
  assert.match(texts, /OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT="none"/)
})
