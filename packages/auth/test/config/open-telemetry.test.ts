/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../src/config/config.ts'
import { testEnvironment } from '../support/auth-server.ts'

const required = { ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth' }
const read = (env: Readonly<Record<string, string>>, file = {}) => {
  const { config, faults } = parseConfig({ ...required, ...env }, file)
  return { config: config.openTelemetry, faults: faults.map(toFaultText).join('\n') }
}

test('OpenTelemetry has the defaults of its specification', () => {
  const { config, faults } = read({})
  assert.equal(faults, '')
  assert.deepEqual(config, {
    tracesProtocol: 'http/protobuf',
    metricsProtocol: 'http/protobuf',
    sampler: 'parentbased_always_on',
    samplerPart: 1,
    spanDelayMs: 5_000,
    spanQueueSize: 2_048,
    metricIntervalMs: 60_000,
    serviceName: '',
    isVerbose: false,
    variables: { OTEL_RESOURCE_ATTRIBUTES: '' },
  })
})

test('one protocol applies to traces and metrics unless one of them has its own', () => {
  const both = read({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }).config
  assert.deepEqual([both.tracesProtocol, both.metricsProtocol], ['grpc', 'grpc'])
  const one = read({
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/protobuf',
  }).config
  assert.deepEqual([one.tracesProtocol, one.metricsProtocol], ['grpc', 'http/protobuf'])
  assert.match(read({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }).faults, /PROTOCOL="http\/json"/)
})

test('variables that OpenTelemetry reads itself may be in a file and have our prefix', () => {
  const { variables } = read(
    { AUTH_OTEL_EXPORTER_OTLP_ENDPOINT: 'http://one', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://two' },
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://three',
      GOTRUE_OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_RESOURCE_ATTRIBUTES: 'a=b',
    },
  ).config
  assert.deepEqual(variables, {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://one',
    OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    OTEL_RESOURCE_ATTRIBUTES: 'a=b',
  })
})

test('attributes that OpenTelemetry would silently drop cause a warning', () => {
  const notesOf = (text: string) =>
    parseConfig({ ...required, OTEL_RESOURCE_ATTRIBUTES: text }).notes.filter((note) =>
      note.startsWith('OTEL_RESOURCE_ATTRIBUTES'),
    )
  for (const text of ['', 'a=b', ' a = b c , , d=%2C']) assert.deepEqual(notesOf(text), [], text)
  for (const text of ['a', 'a=b=c', '=b', 'a=b,c', 'a=%zz']) {
    assert.match(notesOf(text).join(), /has no effect: ".+" is not key=value/, text)
  }
})

test('DEBUG may have a value for other programs', () => {
  assert.equal(read({ DEBUG: 'true' }).config.isVerbose, true)
  for (const value of ['', '0', 'express:*', '*']) {
    const { config, faults } = read({ DEBUG: value })
    assert.deepEqual([config.isVerbose, faults], [false, ''])
  }
})
