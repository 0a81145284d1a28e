import assert from 'node:assert/strict'
import test from 'node:test'
import { UsageError } from '@portcullis/bench-kit/options'
import { parseSettings } from '../settings.ts'

test('invalid options are reported by name', () => {
  const wrong = {
    '--only nothing': /Unknown name "nothing"\. Choose from: admin, user, /,
    '--workers 0': /--workers must be a whole number above 0, not "0"/,
    '--rounds many': /--rounds must be a whole number above 0, not "many"/,
    '--seconds 0': /--seconds must be a number above 0, not "0"/,
    '--postgres oracle': /--postgres must be one of embedded, system, not "oracle"/,
    '--peer-pid 12': /--peer-pid needs --peer/,
    '--peer http://localhost:9999': /--peer needs --peer-pid and --peer-database/,
    '--peer localhost --peer-pid 1 --peer-database postgres://a/b': /http:\/\/HOST:PORT, not "loc/,
    '--peer http://a:1 --peer-program b': /not both/,
    '--worker-cores some': /--worker-cores must be a number above 0, not "some"/,
    '--worker-cores 0.1 --peer-program b': /--worker-cores does not limit a peer/,
    '--unheard-of': /--unheard-of/,
  }
  for (const [args, message] of Object.entries(wrong)) {
    assert.throws(
      () => parseSettings(args.split(' ')),
      (error) => error instanceof UsageError && message.test(error.message),
      args,
    )
  }
})

test('the password of an invalid database URL is not repeated', () => {
  const args = [
    '--peer',
    'http://a:1',
    '--peer-pid',
    '1',
    '--peer-database',
    'mysql://u:secret@a/b',
  ]
  assert.throws(
    () => parseSettings(args),
    (error) => error instanceof UsageError && !error.message.includes('secret'),
  )
})

test('a running peer is given by URL, process and database', () => {
  const database = 'postgres://u:p@127.0.0.1:5432/peer'
  const args = ['--peer', 'http://127.0.0.1:9999', '--peer-pid', '12', '--peer-database', database]
  assert.deepEqual(parseSettings(args).peer, {
    kind: 'running',
    target: { host: '127.0.0.1', port: 9999 },
    pid: 12,
    databaseUrl: database,
  })
})

test('the cores of workers may be a fraction', () => {
  assert.equal(parseSettings(['--worker-cores', '0.1']).workerCores, 0.1)
  assert.equal(parseSettings([]).workerCores, undefined)
})

test('only a run of all cases, without limits, is complete', () => {
  assert.equal(parseSettings([]).isComplete, true)
  for (const args of [
    ['--quick'],
    ['--only', 'user'],
    ['--users', '1000'],
    ['--worker-cores', '0.1'],
  ]) {
    assert.equal(parseSettings(args).isComplete, false, args.join(' '))
  }
})
