import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  parseHeaders,
  parseServerAddress,
} from '../../../../src/rules/sources/xds/parse-settings.ts'
import { createBackoff, spread } from '../../../../src/rules/sources/xds/xds-source.ts'

test('addresses have the formats of gRPC', () => {
  const cases = {
    'localhost:18000': { host: 'localhost', port: 18000 },
    '10.0.0.1:80': { host: '10.0.0.1', port: 80 },
    '[::1]:18000': { host: '::1', port: 18000 },
    'dns:///xds.svc:18000': { host: 'xds.svc', port: 18000 },
    'dns:xds.svc:18000': { host: 'xds.svc', port: 18000 },
    'passthrough:///xds.svc:18000': { host: 'xds.svc', port: 18000 },
    'unix:/run/xds.sock': { path: '/run/xds.sock' },
    'unix:///run/xds.sock': { path: '/run/xds.sock' },
  }
  for (const [url, address] of Object.entries(cases)) {
    assert.deepEqual(parseServerAddress(url), address, url)
  }
})

test('an invalid address is refused with the valid formats', () => {
  for (const url of ['', 'host', 'host:', ':18000', 'http://host:1', 'host:65536', '::1:18000']) {
    assert.throws(() => parseServerAddress(url), /must be host:port/)
  }
})

test('header names are sent in lower case, and invalid headers are refused', () => {
  const headers = new Map([
    ['X-Token', ' a '],
    ['authorization', 'Bearer x:y'],
  ])
  assert.deepEqual(parseHeaders(headers), { 'x-token': 'a', authorization: 'Bearer x:y' })
  for (const [name, value] of [
    [':path', '/'],
    ['a b', 'c'],
    ['', 'c'],
    ['ü', 'c'],
    ['connection', 'close'],
    ['x', 'sécret'],
    ['x', 'secret\n'],
  ] as const) {
    assert.throws(
      () => parseHeaders(new Map([[name, value]])),
      (error: Error) => {
        assert.match(error.message, /^the header "/)
        return !error.message.includes('cret')
      },
    )
  }
})

test('waits double up to the maximum, and start again after a reset', () => {
  const settings = { initialMs: 10_000, maxMs: 60_000, randomFactor: 0 }
  const backoff = createBackoff(settings, () => 0.9)
  const next = () => backoff.nextMs()
  assert.deepEqual([next(), next(), next(), next(), next()], [1, 2, 4, 6, 6].map(toTenSeconds))
  backoff.reset()
  assert.deepEqual([next(), next()], [1, 2].map(toTenSeconds))
})

test('jitter multiplies a wait by 1 - factor to 1 + factor', () => {
  const settings = { initialMs: 1_000, maxMs: 4_000, randomFactor: 0.5 }
  assert.equal(createBackoff(settings, () => 0).nextMs(), 500)
  assert.equal(createBackoff(settings, () => 0.5).nextMs(), 1_000)
  assert.equal(createBackoff(settings, () => 1).nextMs(), 1_500)
})

test('a wait is within the range of a timer, and never 0', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e15, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (waitMs, factor, chance) => {
        const spreadMs = spread(waitMs, factor, () => chance)
        assert.ok(spreadMs >= 10 && spreadMs < 2 ** 31)
      },
    ),
  )
})

function toTenSeconds(count: number): number {
  return count * 10_000
}
