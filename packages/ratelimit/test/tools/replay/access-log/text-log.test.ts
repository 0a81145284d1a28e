import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { MappingSettings } from '../../../../src/tools/replay/access-log/mapping.ts'
import { FormatError } from '../../../../src/tools/replay/access-log/operators.ts'
import {
  createTextLogReader,
  defaultFormat,
} from '../../../../src/tools/replay/access-log/text-log.ts'
import { entriesOf } from '../support/entries.ts'

/** The example in Envoy's documentation, on one line. */
const documented =
  '[2016-04-15T20:17:00.310Z] "POST /api/v1/locations?x=1 HTTP/2" 204 - 154 0 226 100 ' +
  '"10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80"'

function toMapping(...descriptors: string[]): MappingSettings {
  return { domain: 'api', descriptors, hits: undefined, stripsQuery: false }
}

suite('an access log in text', () => {
  test('in the default format is converted to requests', () => {
    const read = createTextLogReader(
      defaultFormat,
      toMapping('path=%REQ(:PATH)%,method=%REQ(:method)%', 'address=%REQ(X-FORWARDED-FOR)%'),
    )
    assert.deepEqual(read(documented), {
      timeMs: Date.parse('2016-04-15T20:17:00.310Z'),
      domain: 'api',
      hitsAddend: 1,
      descriptors: [
        {
          entries: [
            { key: 'path', value: '/api/v1/locations?x=1' },
            { key: 'method', value: 'POST' },
          ],
          limit: undefined,
          hitsAddend: undefined,
          isNegativeHits: false,
        },
        {
          entries: [{ key: 'address', value: '10.0.35.28' }],
          limit: undefined,
          hitsAddend: undefined,
          isNegativeHits: false,
        },
      ],
    })
  })

  test('loses the query string of paths with stripsQuery, and of nothing else', () => {
    const mapping = { ...toMapping('path=%REQ(:PATH)%,agent=%REQ(USER-AGENT)%'), stripsQuery: true }
    const read = createTextLogReader(defaultFormat, mapping)
    const line = documented.replace('nsq2http', 'what?')
    assert.deepEqual(entriesOf(read(line)), ['path=/api/v1/locations agent=what?'])
  })

  test('drops a descriptor with a missing value, and a request without descriptors', () => {
    const read = createTextLogReader(
      '[%START_TIME%] %REQ(X-USER)% %REQ(:PATH)%\\n',
      toMapping('user=%REQ(X-USER)%,path=%REQ(:PATH)%', 'path=%REQ(:PATH)%'),
    )
    const time = '[2026-01-01T00:00:00.000Z]'
    assert.deepEqual(entriesOf(read(`${time} 7 /a`)), ['user=7 path=/a', 'path=/a'])
    assert.deepEqual(entriesOf(read(`${time} - /a`)), ['path=/a'])
    assert.equal(read(`${time} - -`), undefined)
  })

  test('can combine several values in one text', () => {
    const read = createTextLogReader(
      '%START_TIME(%s)% %REQ(:METHOD)% %REQ(:PATH)%',
      toMapping('route=%REQ(:METHOD)% %REQ(:PATH)%,kind=a\\,b,share=100%%'),
    )
    assert.deepEqual(entriesOf(read('1767225600 GET /x')), ['route=GET /x kind=a,b share=100%'])
  })

  test('counts the number of hits in a field', () => {
    const mapping = { ...toMapping('path=%REQ(:PATH)%'), hits: '%BYTES_SENT%' }
    const read = createTextLogReader('%START_TIME(%s)% %BYTES_SENT% %REQ(:PATH)%', mapping)
    const hitsOf = (line: string) => {
      const request = read(line)
      return typeof request === 'object' ? request.hitsAddend : request
    }
    assert.equal(hitsOf('1767225600 512 /x'), 512)
    assert.equal(hitsOf('1767225600 - /x'), 1)
  })

  test('reports where a line does not match the format', () => {
    const read = createTextLogReader(defaultFormat, toMapping('path=%REQ(:PATH)%'))
    assert.equal(
      read('[2016-04-15T20:17:00.310Z] "POST /api'),
      'column 34: expected " " after the value of %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%',
    )
    assert.equal(read('nonsense'), 'column 1: expected "[" at the start')
    assert.equal(
      read(documented.replace('2016-04', 'April')),
      '%START_TIME% is not a time: "April-15T20:17:00.310Z"',
    )
    assert.match(String(read('{"path": "/"}')), /the line is JSON: use --format json/)
    assert.equal(
      read(`${documented} "more"`),
      'column 178: the line continues after the end of the format',
    )
  })

  test('can have its own time format', () => {
    const mapping = toMapping('path=%REQ(:PATH)%')
    const times = [
      ['%START_TIME(%Y/%m/%dT%H:%M:%S%z %s)%', '2026/01/01T00:00:00+0000 1767225600', 0],
      ['%START_TIME(%s.%3f)%', '1767225600.528', 528],
      ['%START_TIME(%s.%9f)%', '1767225600.528999999', 528],
      ['%START_TIME(%d/%b/%Y:%H:%M:%S %z)%', '01/Jan/2026:02:00:00 +0200', 0],
      ['%START_TIME(%F %T)%', '2026-01-01 00:00:00', 0],
      ['%START_TIME_LOCAL(%FT%T%z)%', '2025-12-31T19:00:00-0500', 0],
    ] as const
    for (const [format, text, ms] of times) {
      const request = createTextLogReader(`${format}|%REQ(:PATH)%`, mapping)(`${text}|/`)
      assert.equal(typeof request === 'object' && request.timeMs, 1_767_225_600_000 + ms, format)
    }
  })

  const faults = [
    [
      '[%START_TIME%] %RESPONCE_CODE%',
      16,
      /unknown operator %RESPONCE_CODE%; did you mean %RESPONSE_CODE%/,
    ],
    ['[%START_TIME%] %Foo(x)%', 16, /unknown operator %Foo\(x\)%/],
    ['%START_TIME% %req(:path)%', 14, /unknown operator %req\(:path\)%; did you mean %REQ%/],
    ['%START_TIME% %REQ%', 14, /%REQ% has no header name/],
    ['%START_TIME%%REQ(:PATH)%', 13, /there is no text between %START_TIME% and %REQ\(:PATH\)%/],
    ['%REQ(:PATH)% 100%', 17, /this % does not start an operator/],
    ['%REQ(:PATH)%', 1, /the format has no %START_TIME%/],
    ['%START_TIME(%Q)% %REQ(:PATH)%', 1, /the time format contains %Q, which is not supported/],
    ['%START_TIME(%H:%M)% %REQ(:PATH)%', 1, /must contain a full date/],
    ['%START_TIME_LOCAL(%F %T)% %REQ(:PATH)%', 1, /a local time can only be read with %z/],
  ] as const
  for (const [format, column, message] of faults) {
    test(`is refused with the format ${format}`, () => {
      assert.throws(
        () => createTextLogReader(format, toMapping()),
        (error: unknown) => {
          assert(error instanceof FormatError)
          assert.match(error.message, message)
          assert.equal(error.column, column)
          return true
        },
      )
    })
  }

  test('is refused with a descriptor that needs an operator that is not in the format', () => {
    const create = (descriptor: string) => () =>
      createTextLogReader(defaultFormat, toMapping(descriptor))
    assert.throws(create('a=b,user=%REQ(X-USER)%'), (error: unknown) => {
      assert(error instanceof FormatError)
      assert.match(
        error.message,
        /^%REQ\(X-USER\)% is not in the format of the log, which has %START/,
      )
      assert.equal(error.column, 10)
      return true
    })
    assert.throws(create('path'), /entries must be written as key=value/)
    assert.throws(create('path='), /path= has no value/)
  })
})
