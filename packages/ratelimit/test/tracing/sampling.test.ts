import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSpanContextValid, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { B3Propagator } from '@opentelemetry/propagator-b3'
import fc from 'fast-check'
import { createSample } from '../../src/tracing/sampling.ts'
import { spanId, traceId } from './support/traced-service.ts'

type Headers = Readonly<Record<string, string | undefined>>

function createHeaderSample(rate: number) {
  return createSample<Headers>({ rate, readHeader: (headers, name) => headers[name] })
}

test('without a decision of the caller a rate of 1 traces every call and a rate of 0 none', () => {
  const [all, none] = [createHeaderSample(1), createHeaderSample(0)]
  for (let call = 0; call < 10_000; call++) {
    assert.notEqual(all({}), undefined)
    assert.equal(none({}), undefined)
  }
})

test('a rate in between traces about that fraction of calls', () => {
  const sample = createHeaderSample(0.25)
  let traced = 0
  for (let call = 0; call < 100_000; call++) if (sample({}) !== undefined) traced++
  // 15 times the standard deviation.
  assert.ok(Math.abs(traced - 25_000) < 2_054, `${traced}`)
})

test('the decision of the caller wins, whatever the rate', () => {
  for (const rate of [0, 0.5, 1]) {
    const sample = createHeaderSample(rate)
    for (let call = 0; call < 100; call++) {
      assert.notEqual(sample({ traceparent: `00-${traceId}-${spanId}-01` }), undefined)
      assert.equal(sample({ traceparent: `00-${traceId}-${spanId}-00` }), undefined)
    }
  }
})

test('if trace context and B3 disagree, trace context wins', () => {
  const sample = createHeaderSample(0)
  const b3 = `${'1'.repeat(32)}-${'2'.repeat(16)}`
  const context = sample({ traceparent: `00-${traceId}-${spanId}-01`, b3: `${b3}-0` })
  assert.equal(context?.traceId, traceId)
  assert.equal(sample({ traceparent: `00-${traceId}-${spanId}-00`, b3: `${b3}-1` }), undefined)
})

const hex = (length: number) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)) },
    fc.constant('0'.repeat(length)),
    fc.constant('F'.repeat(length)),
    fc.string({ maxLength: length }),
  )
const either = (...values: readonly string[]) => fc.constantFrom(...values)
const maybe = (value: fc.Arbitrary<string>) => fc.option(value, { nil: undefined })
const traceParents = fc
  .tuple(
    either('00', '00', '00', 'cc', 'ff', ''),
    hex(32),
    hex(16),
    hex(2),
    either('', '', '', ' ', '-', '-x'),
  )
  .map(([version, id, parent, flags, rest]) => `${version}-${id}-${parent}-${flags}${rest}`)
const singleHeaders = fc
  .tuple(fc.oneof(hex(32), hex(16)), hex(16), either('', '-0', '-1', '-d', '-x', '-0-'), hex(16))
  .map(([id, parent, state, rest]) => `${id}-${parent}${state}${state === '-0-' ? rest : ''}`)
const headers: fc.Arbitrary<Headers> = fc.record({
  traceparent: maybe(traceParents),
  b3: maybe(fc.oneof(singleHeaders, either('0', '1', ''))),
  'x-b3-traceid': maybe(fc.oneof(hex(32), hex(16))),
  'x-b3-spanid': maybe(hex(16)),
  'x-b3-sampled': maybe(either('0', '1', 'true', 'false', 'd', '')),
  'x-b3-flags': maybe(either('0', '1')),
})

/** The result of the propagators of OpenTelemetry. */
function findParent(carrier: Headers) {
  const getter = { get: (from: Headers, name: string) => from[name], keys: () => [] }
  let context = new B3Propagator().extract(ROOT_CONTEXT, carrier, getter)
  context = new W3CTraceContextPropagator().extract(context, carrier, getter)
  const parent = trace.getSpanContext(context)
  return parent !== undefined && isSpanContextValid(parent) ? parent : undefined
}

test('the shortcuts agree with the propagators', () => {
  const [all, none] = [createHeaderSample(1), createHeaderSample(0)]
  fc.assert(
    fc.property(headers, (carrier) => {
      const parent = findParent(carrier)
      const isSampled = parent === undefined ? undefined : (parent.traceFlags & 1) === 1
      assert.equal(all(carrier) !== undefined, isSampled ?? true)
      const context = none(carrier)
      assert.equal(context !== undefined, isSampled ?? false)
      if (context !== undefined) assert.deepEqual(context, parent)
    }),
    { numRuns: 5_000 },
  )
})
