import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  boolean,
  choice,
  duration,
  hideAll,
  hideCredentials,
  integer,
  list,
  map,
  number,
  path,
  port,
  readSettings,
  string,
  toFaultText,
  withAlias,
} from '@portcullis/service-kit/settings/env'

const chapters = {
  all: {
    title: 'All types',
    variables: {
      flag: boolean('FLAG', false, 'A flag'),
      count: integer('COUNT', 10, 'A count', { min: 1, max: 1_000 }),
      ratio: number('RATIO', 0.8, 'A ratio', { min: 0, max: 1 }),
      wait: duration('WAIT', '10s', 'A wait'),
      refresh: duration('REFRESH', '0', 'A wait in seconds', { bareSeconds: true }),
      hosts: list('HOSTS', ['a'], 'Hosts'),
      tags: map('TAGS', 'Tags'),
      metadata: map('METADATA', 'More', { separator: '=' }),
      level: choice('LEVEL', ['low', 'high'], 'low', 'A level', { spellings: { hi: 'high' } }),
      file: path('FILE', '/etc/file', 'A file'),
      text: string('TEXT', 'default', 'A text'),
      listen: port('LISTEN', 8080, 'A port'),
      secret: integer('SECRET', 0, 'A secret number', { mask: hideAll }),
    },
  },
  named: {
    title: 'Names',
    variables: withAlias(
      { url: string('STORE_URL', 'nowhere', 'An address', { aliases: ['STORE'] }) },
      (name) => name.replace('STORE', 'REDIS'),
    ),
  },
}

function readAll(env: Record<string, string>) {
  const { settings, faults } = readSettings(chapters, env)
  return { ...settings.all, faults: faults.map(toFaultText) }
}

test('without an environment every variable has its default', () => {
  const { settings, faults, notes } = readSettings(chapters, {})
  assert.deepEqual(settings.all, {
    flag: false,
    count: 10,
    ratio: 0.8,
    wait: 10_000,
    refresh: 0,
    hosts: ['a'],
    tags: new Map(),
    metadata: new Map(),
    level: 'low',
    file: '/etc/file',
    text: 'default',
    listen: 8080,
    secret: 0,
  })
  assert.deepEqual([faults, notes], [[], []])
})

for (const text of ['1', 't', 'T', 'true', 'TRUE', 'True']) {
  test(`${text} is true`, () => assert.equal(readAll({ FLAG: text }).flag, true))
}
for (const text of ['tRUE', 'yes', 'on', '2', 'constructor']) {
  test(`${text} is not a boolean`, () => {
    assert.deepEqual(readAll({ FLAG: text }).faults, [
      `FLAG="${text}": must be true or false (or 1, 0, t, f)`,
    ])
  })
}

const integers: readonly (readonly [string, number])[] = [
  ['12', 12],
  ['+12', 12],
  ['0x1F', 31],
  ['017', 15],
  ['0o17', 15],
  ['0b101', 5],
  [' 12 ', 12],
]
for (const [text, value] of integers) {
  test(`the integer ${text} is ${value}`, () => assert.equal(readAll({ COUNT: text }).count, value))
}
for (const text of ['0', '1001', '-5', '1.5', '08', '0x', '1e2', 'ten', '5 5']) {
  test(`${text} is not an integer from 1 to 1000`, () => {
    const { count, faults } = readAll({ COUNT: text })
    assert.deepEqual(
      [count, faults],
      [10, [`COUNT="${text}": must be a whole number from 1 to 1000`]],
    )
  })
}

test('a number outside its range is refused', () => {
  assert.equal(readAll({ RATIO: '1e-2' }).ratio, 0.01)
  assert.deepEqual(readAll({ RATIO: '1.2' }).faults, ['RATIO="1.2": must be a number from 0 to 1'])
  assert.equal(readAll({ RATIO: 'NaN' }).faults.length, 1)
  assert.equal(readAll({ RATIO: 'Infinity' }).faults.length, 1)
})

test('durations are read as milliseconds, and a bare number only with bareSeconds', () => {
  const { wait, refresh, faults } = readAll({ WAIT: '1h30m', REFRESH: '90' })
  assert.deepEqual([wait, refresh, faults], [5_400_000, 90_000, []])
  assert.equal(readAll({ WAIT: '90' }).faults.length, 1)
})

test('a list is split at commas, and may be emptied', () => {
  assert.deepEqual(readAll({ HOSTS: ' b:1 ,c:2,, ' }).hosts, ['b:1', 'c:2'])
  assert.deepEqual(readAll({ HOSTS: '' }).hosts, [])
})

test('a map may have angle brackets, and colons in its values', () => {
  const expected = new Map([
    ['k1', 'v1'],
    ['k2', 'http://host:80/'],
  ])
  assert.deepEqual(readAll({ TAGS: '<k1:v1>, <k2:http://host:80/>' }).tags, expected)
  assert.deepEqual(readAll({ TAGS: 'k1:v1,k2:http://host:80/' }).tags, expected)
  assert.deepEqual(readAll({ METADATA: 'a=b=c' }).metadata, new Map([['a', 'b=c']]))
  for (const text of ['k1', ':v', 'k1:v1,k2'])
    assert.equal(readAll({ TAGS: text }).faults.length, 1)
})

test('a choice is accepted in any letter case and in its alternative spellings', () => {
  assert.equal(readAll({ LEVEL: 'HIGH' }).level, 'high')
  assert.equal(readAll({ LEVEL: 'Hi' }).level, 'high')
  assert.deepEqual(readAll({ LEVEL: 'medium' }).faults, [
    'LEVEL="medium": must be one of: low, high (also hi)',
  ])
})

test('a port is a number up to 65535', () => {
  assert.equal(readAll({ LISTEN: '0' }).listen, 0)
  assert.deepEqual(readAll({ LISTEN: 'tcp://10.0.0.1:80' }).faults, [
    'LISTEN="tcp://10.0.0.1:80": must be a whole number from 0 to 65535',
  ])
  assert.equal(readAll({ LISTEN: '65536' }).faults.length, 1)
})

test('an empty text is a value for strings, lists and maps, and counts as unset for other types', () => {
  const env = {
    FLAG: '',
    COUNT: '',
    RATIO: ' ',
    WAIT: '',
    LEVEL: '',
    LISTEN: '',
    TEXT: '',
    FILE: '',
  }
  const { flag, count, ratio, wait, level, listen, text, file, faults } = readAll(env)
  assert.deepEqual(
    [flag, count, ratio, wait, level, listen, text, file, faults],
    [false, 10, 0.8, 10_000, 'low', 8080, '', '', []],
  )
})

test('all faults are reported at once, with masked secrets', () => {
  const { faults } = readAll({ FLAG: 'maybe', COUNT: '0', SECRET: 'hunter2' })
  assert.deepEqual(faults, [
    'FLAG="maybe": must be true or false (or 1, 0, t, f)',
    'COUNT="0": must be a whole number from 1 to 1000',
    'SECRET="*****": must be a whole number of at least 0',
  ])
})

test('the main name takes precedence over the aliases, with a warning when they differ', () => {
  const { settings, notes } = readSettings(chapters, { REDIS_URL: 'alias', STORE_URL: 'main' })
  assert.equal(settings.named.url, 'main')
  assert.deepEqual(notes, ['STORE_URL and REDIS_URL are both set: STORE_URL is used'])
  const equal = readSettings(chapters, { REDIS_URL: 'same', STORE_URL: 'same' })
  assert.deepEqual(equal.notes, [])
})

test('a fault names the variable as it was set', () => {
  const { url } = chapters.named.variables
  const reading = readSettings(chapters, { REDIS_URL: 'x' })
  assert.equal(reading.nameAsSet(url), 'REDIS_URL')
  assert.deepEqual(reading.toFault(url, 'is wrong'), {
    variable: 'REDIS_URL',
    value: 'x',
    message: 'is wrong',
  })
  assert.equal(
    toFaultText(readSettings(chapters, {}).toFault(url, 'is missing')),
    'STORE_URL is missing',
  )
})

test('an earlier source takes precedence over a later one under any name', () => {
  const environment = { REDIS_URL: 'environment' }
  const file = { STORE_URL: 'file', TEXT: 'file' }
  const { settings } = readSettings(chapters, environment, file)
  assert.equal(settings.named.url, 'environment')
  assert.equal(settings.all.text, 'file')
})

test('settings are frozen', () => {
  const { settings } = readSettings(chapters, {})
  assert.throws(() => Object.assign(settings.all, { count: 1 }), TypeError)
  assert.throws(() => Object.assign(settings, { all: {} }), TypeError)
})

test('a default that is not a duration is a programming error', () => {
  assert.throws(() => duration('X', 'soon', 'X'), TypeError)
})

test('credentials in addresses are hidden, whatever they contain', () => {
  const shown: readonly (readonly [string, string])[] = [
    ['redis://user:p@s,s/@host:1/0', 'redis://*****@host:1/0'],
    ['user:secret@host:1,b:2', '*****@host:1,b:2'],
    ['redis://u:p@a:1,redis://u:p@b:2', 'redis://*****@b:2'],
    ['redis://host:1?password=x&db=1', 'redis://host:1?password=*****&db=1'],
    ['host:6379', 'host:6379'],
  ]
  for (const [address, expected] of shown) assert.equal(hideCredentials(address), expected)
})
