import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  parseRedisAddress,
  parseRedisAuth,
  toAddressText,
} from '../../../src/counters/redis/address.ts'

const single = (url: string, socketType = 'tcp') =>
  parseRedisAddress({ type: 'single', socketType, url })

test('host and port identify a single server', () => {
  assert.deepEqual(single('localhost:6380'), {
    type: 'single',
    endpoint: { host: 'localhost', port: 6380 },
  })
  assert.deepEqual(single('[::1]:6380'), { type: 'single', endpoint: { host: '::1', port: 6380 } })
  assert.deepEqual(single('redis'), { type: 'single', endpoint: { host: 'redis', port: 6379 } })
})

test('a path is a unix socket when the socket type says so', () => {
  assert.deepEqual(single('/var/run/nutcracker/ratelimit.sock', 'unix'), {
    type: 'single',
    endpoint: { path: '/var/run/nutcracker/ratelimit.sock' },
  })
  assert.throws(() => single('/run/redis.sock'), /set the socket type to unix/)
})

test('a redis URL carries credentials and a database, and is TCP with any socket type', () => {
  assert.deepEqual(single('redis://us%40er:p%3Aw@h:1234/7', 'unix'), {
    type: 'single',
    endpoint: { host: 'h', port: 1234 },
    credentials: { user: 'us@er', password: 'p:w' },
    database: 7,
    usesTls: false,
  })
  const query = single('redis://h?username=u&password=p&db=3')
  assert.deepEqual(query.credentials, { user: 'u', password: 'p' })
  assert.equal(query.database, 3)
  assert.equal(single('rediss://h').usesTls, true)
  assert.deepEqual(single('redis://:secret@[::1]:1').credentials, { password: 'secret' })
})

test('types are accepted in any case, and unknown ones are refused', () => {
  assert.equal(
    parseRedisAddress({ type: 'CLUSTER', socketType: 'tcp', url: 'a:1' }).type,
    'cluster',
  )
  for (const type of ['replica', '', 'toString']) {
    assert.throws(() => parseRedisAddress({ type, socketType: 'tcp', url: 'a:1' }), {
      message: `Unrecognized redis type ${type}`,
    })
  }
})

test('a sentinel list starts with the name of the master', () => {
  const url = 'mymaster, s1:26379,s2'
  assert.deepEqual(parseRedisAddress({ type: 'sentinel', socketType: 'tcp', url }), {
    type: 'sentinel',
    masterName: 'mymaster',
    sentinels: [
      { host: 's1', port: 26_379 },
      { host: 's2', port: 26_379 },
    ],
    credentials: undefined,
    database: undefined,
    usesTls: false,
  })
  assert.throws(() => parseRedisAddress({ type: 'sentinel', socketType: 'tcp', url: 'mymaster' }), {
    message:
      'Expected master name and a list of urls for the sentinels, in the format: ' +
      '<redis master name>,<sentinel1>,...,<sentineln>',
  })
})

test('a cluster is a list of nodes', () => {
  const url = 'a:7000,redis://u:p@b:7001'
  const address = parseRedisAddress({ type: 'cluster', socketType: 'unix', url })
  assert.deepEqual(address, {
    type: 'cluster',
    seeds: [
      { host: 'a', port: 7000 },
      { host: 'b', port: 7001 },
    ],
    credentials: { user: 'u', password: 'p' },
    database: undefined,
    usesTls: false,
  })
})

test('an invalid address is refused without showing a password', () => {
  const bad = ['', ':6379', 'h:0', 'h:70000', 'h:x', 'a b:1', 'redis://', 'redis://h/x', 'h:1/2']
  for (const url of bad) assert.throws(() => single(url), Error, url)
  for (const url of ['user:secret@h:1', 'redis://user:secret@h:99999']) {
    assert.throws(
      () => single(url),
      ({ message }) => !message.includes('secret') && message.includes('*****'),
    )
  }
  assert.throws(() => single('h:1', 'udp'), /Unrecognized socket type udp/)
})

test('credentials are split at the first colon', () => {
  assert.deepEqual(parseRedisAuth('secret'), { password: 'secret' })
  assert.deepEqual(parseRedisAuth('user:se:cret'), { user: 'user', password: 'se:cret' })
  assert.deepEqual(parseRedisAuth(':secret'), { password: 'secret' })
  assert.equal(parseRedisAuth(''), undefined)
  assert.equal(parseRedisAuth(undefined), undefined)
})

test('a log never shows credentials', () => {
  assert.equal(toAddressText(single('redis://user:secret@h:1')), 'redis://*****@h:1')
  assert.equal(toAddressText(single('h:1')), 'h:1')
  const cluster = parseRedisAddress({ type: 'cluster', socketType: 'tcp', url: 'a:1,b:2' })
  assert.equal(toAddressText(cluster), 'a:1,b:2')
})
