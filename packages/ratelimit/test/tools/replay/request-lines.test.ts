import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createRequestLineReader } from '../../../src/tools/replay/request-lines.ts'
import { entriesOf } from './support/entries.ts'

const names = {
  timeField: 'time',
  domainField: 'domain',
  descriptorsField: 'descriptors',
  hitsField: 'hitsAddend',
  domain: undefined,
}

suite('a line with a request', () => {
  const read = createRequestLineReader(names)
  const toLine = (more: object) => JSON.stringify({ time: 1_767_225_600, domain: 'api', ...more })

  test('has descriptors as for /json, or in short form', () => {
    const full = { entries: [{ key: 'path', value: '/' }] }
    const short = { path: '/', user: 7, isBot: false }
    assert.deepEqual(entriesOf(read(toLine({ descriptors: [full, short] }))), [
      'path=/',
      'path=/ user=7 isBot=false',
    ])
  })

  test('may contain limits and hits', () => {
    const descriptor = {
      entries: [{ key: 'path', value: '/' }],
      hits_addend: 3,
      limit: { requestsPerUnit: 5, unit: 'MINUTE' },
    }
    const request = read(toLine({ descriptors: [descriptor], hitsAddend: '2' }))
    assert(typeof request === 'object')
    assert.equal(request.hitsAddend, 2)
    assert.equal(request.descriptors[0]?.hitsAddend, 3)
    assert.deepEqual(request.descriptors[0]?.limit, { requestsPerUnit: 5, unit: 2 })
  })

  test('may have other field names, and a common domain', () => {
    const readOther = createRequestLineReader({
      timeField: 'at.start',
      domainField: 'd',
      descriptorsField: 'what',
      hitsField: 'n',
      domain: 'api',
    })
    const request = readOther('{"at": {"start": 1}, "what": [{"a": "b"}], "n": 4}')
    assert(typeof request === 'object')
    assert.deepEqual([request.timeMs, request.domain, request.hitsAddend], [1000, 'api', 4])
  })

  test('without descriptors is not a request', () => {
    assert.equal(read(toLine({ descriptors: [] })), undefined)
  })

  const faults: [more: object, reason: RegExp][] = [
    [{}, /the field descriptors must be a list/],
    [{ descriptors: ['x'] }, /a descriptor must be an object/],
    [{ descriptors: [{ a: {} }] }, /the descriptor's "a" must be a string/],
    [{ descriptors: [{ entries: [{ key: 1 }] }] }, /descriptors\[0\]\.entries\[0\]\.key/],
    [{ descriptors: [{ entries: [], oops: 1 }] }, /unknown member "oops"/],
    [{ descriptors: [{ a: 'b' }], domain: '' }, /there is no domain in the field domain/],
    [{ descriptors: [{ a: 'b' }], hitsAddend: -1 }, /hitsAddend must be a whole number/],
    [{ descriptors: [{ a: 'b' }], time: 'x' }, /the field time is not a time: "x"/],
  ]
  for (const [more, reason] of faults) {
    test(`is not read with ${JSON.stringify(more)}`, () => {
      assert.match(String(read(toLine(more))), reason)
    })
  }
})
