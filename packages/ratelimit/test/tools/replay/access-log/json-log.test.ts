import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  createDictionaryLogReader,
  createJsonLogReader,
  type JsonLogSettings,
} from '../../../../src/tools/replay/access-log/json-log.ts'
import { entriesOf } from '../support/entries.ts'

function toSettings(timeField: string | undefined, ...descriptors: string[]): JsonLogSettings {
  return { domain: 'api', descriptors, hits: undefined, stripsQuery: false, timeField }
}

suite('an access log in JSON', () => {
  test('has values by the names of its fields', () => {
    const read = createJsonLogReader(toSettings('at', 'path=%url.path%,user=%user%', 'n=%n%'))
    const line = { at: 1_767_225_600, url: { path: '/a' }, user: 'u', n: 7 }
    const request = read(JSON.stringify(line))
    assert.deepEqual(entriesOf(request), ['path=/a user=u', 'n=7'])
    assert.equal(typeof request === 'object' && request.timeMs, 1_767_225_600_000)
    assert.deepEqual(entriesOf(read(JSON.stringify({ ...line, user: '-' }))), ['n=7'])
    assert.deepEqual(entriesOf(read(JSON.stringify({ ...line, user: null }))), ['n=7'])
    assert.equal(read('{"at": 1767225600}'), undefined)
  })

  test('may have dots in the names of its fields', () => {
    const read = createJsonLogReader(toSettings('time', 'path=%url.path%'))
    assert.deepEqual(entriesOf(read('{"time": 1767225600, "url.path": "/a"}')), ['path=/a'])
  })

  test("has values by operators, if Envoy's json_format maps them to fields", () => {
    const format = JSON.stringify({
      start: '%START_TIME(%s.%3f)%',
      request: { path: '%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%', mixed: 'a %PROTOCOL%' },
      user: '%REQ(X-USER)%',
    })
    const read = createDictionaryLogReader(
      format,
      toSettings(undefined, 'path=%REQ(:PATH)%,user=%REQ(x-user)%'),
    )
    const request = read('{"start": "1767225600.250", "request": {"path": "/a"}, "user": "7"}')
    assert.deepEqual(entriesOf(request), ['path=/a user=7'])
    assert.equal(typeof request === 'object' && request.timeMs, 1_767_225_600_250)
  })

  test('is refused with a json_format that lacks required operators', () => {
    const create = (format: string, ...descriptors: string[]) => {
      return () => createDictionaryLogReader(format, toSettings(undefined, ...descriptors))
    }
    assert.throws(create('{"a": "%REQ(:PATH)%"}'), /has no %START_TIME%, and there is no --time/)
    assert.throws(create('{"a": "%START_TIME%"}', 'p=%REQ(:PATH)%'), /is not in the format/)
    assert.throws(create('{"a": "%START%"}'), /unknown operator %START%/)
    assert.throws(create('{"a": '), /invalid JSON/)
  })

  test('reports why a line cannot be read', () => {
    const read = createJsonLogReader(toSettings(undefined, 'path=%path%'))
    assert.match(String(read('{"time": 17672')), /^invalid JSON: /)
    assert.equal(read('[1]'), 'expected a JSON object')
    assert.match(String(read('{"path": "/"}')), /there is no field time/)
    assert.equal(read('{"time": "soon"}'), 'the field time is not a time: "soon"')
  })
})
