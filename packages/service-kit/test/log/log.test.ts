import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createLog,
  type LogLevel,
  type LogSettings,
  logLevels,
} from '@portcullis/service-kit/log/log'

function collect(settings: Pick<LogSettings, 'level' | 'format'>) {
  const lines: string[] = []
  return { lines, log: createLog({ ...settings, write: (line) => lines.push(line) }) }
}

test('a text line has time, level and message', () => {
  const { log, lines } = collect({ level: 'warning', format: 'text' })
  log.warning("Listening for gRPC on '0.0.0.0:8081'")
  assert.match(
    lines.join(),
    /^time="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ" level=warning msg="Listening for gRPC on '0\.0\.0\.0:8081'"\n$/,
  )
})

test('a message of one plain word needs no quotes', () => {
  const { log, lines } = collect({ level: 'info', format: 'text' })
  log.info('ready')
  assert.match(lines.join(), / level=info msg=ready\n$/)
})

test('a JSON line has @message, @timestamp with nanoseconds, and level', () => {
  const { log, lines } = collect({ level: 'warning', format: 'json' })
  const before = Date.now()
  log.error('it broke')
  const after = Date.now()
  const line: Record<string, string> = JSON.parse(lines.join())
  assert.deepEqual(Object.keys(line), ['@message', '@timestamp', 'level'])
  assert.equal(line['@message'], 'it broke')
  assert.equal(line['level'], 'error')
  assert.match(line['@timestamp'] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
  const time = Date.parse(line['@timestamp'] ?? '')
  assert.ok(time >= before - 3 && time <= after + 3, `${time} is not now`)
})

test('timestamps never decrease', () => {
  const { log, lines } = collect({ level: 'info', format: 'json' })
  for (let i = 0; i < 1_000; i += 1) log.info('tick')
  const times = lines.map((line) => JSON.parse(line)['@timestamp'] as string)
  assert.deepEqual(times, times.toSorted())
  assert.ok(new Set(times).size > 1)
})

test('a log writes its level and all more severe ones', () => {
  for (const level of logLevels) {
    const { log, lines } = collect({ level, format: 'text' })
    log.fatal('m')
    log.error('m')
    log.warning('m')
    log.info('m')
    log.debug('m')
    log.trace('m')
    const expected = logLevels.slice(1, logLevels.indexOf(level) + 1)
    assert.deepEqual(
      lines.map((line) => / level=(\w+) /.exec(line)?.[1]),
      expected,
    )
    const enabled = logLevels.filter((each: LogLevel) => log.isEnabled(each))
    assert.deepEqual(enabled, logLevels.slice(0, logLevels.indexOf(level) + 1))
  }
})

test('a message that is not written is not created', () => {
  const { log, lines } = collect({ level: 'info', format: 'text' })
  log.debug(() => assert.fail('created although it is not written'))
  log.info(() => 'made')
  assert.equal(lines.length, 1)
})

test('text from a caller cannot forge lines or control a terminal', () => {
  const nasty = 'a"b\\c\nlevel=fatal\r\t\0\x1b[31m\x7f\x9b\u2028\u202e\ud800'
  const text = collect({ level: 'info', format: 'text' })
  text.log.info(nasty)
  assert.ok(
    text.lines
      .join()
      .endsWith(
        'msg="a\\"b\\\\c\\nlevel=fatal\\r\\t\\x00\\x1b[31m\\x7f\\u009b\\u2028\\u202e\\ud800"\n',
      ),
    text.lines.join(),
  )
  const json = collect({ level: 'info', format: 'json' })
  json.log.info(nasty)
  const [line = ''] = json.lines
  assert.equal(JSON.parse(line)['@message'], nasty)
  assert.match(line.slice(0, -1), /^[\x20-\x7e]+$/)
})

const event = { status: 200, path: '/a b', error: undefined, who: { id: 'x\u2028' } }

test('the fields of a JSON line follow the standard ones, under their names', () => {
  const { log, lines } = collect({ level: 'info', format: 'logrus' })
  log.event('info', 'request completed', event)
  log.event('info', 'nothing more', {})
  log.event('debug', 'not asked for', event)
  const [first = '', second = '', third] = lines
  assert.equal(third, undefined)
  const { time, ...rest } = JSON.parse(first)
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
  assert.deepEqual(rest, {
    level: 'info',
    msg: 'request completed',
    status: 200,
    path: '/a b',
    who: { id: 'x\u2028' },
  })
  assert.ok(!first.includes('\u2028'))
  assert.deepEqual(Object.keys(JSON.parse(second)), ['level', 'msg', 'time'])
})

test('the fields of a text line are written as name=value', () => {
  const { log, lines } = collect({ level: 'info', format: 'text' })
  log.event('warning', 'done', event)
  assert.match(
    lines.join(),
    / level=warning msg=done status=200 path="\/a b" who="\{\\"id\\":\\"x\\u2028\\"\}"\n$/,
  )
})
