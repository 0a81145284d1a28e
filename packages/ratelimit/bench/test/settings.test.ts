import assert from 'node:assert/strict'
import test from 'node:test'
import { UsageError } from '@portcullis/bench-kit/options'
import { parseSettings } from '../settings.ts'

test('invalid options are reported by name', () => {
  const wrong = {
    '--only nothing': /Unknown name "nothing"\. Choose from: stores, calls, /,
    '--workers none': /--workers must be a whole number above 0, not "none"/,
    '--rounds many': /--rounds must be a whole number above 0, not "many"/,
    '--seconds 0': /--seconds must be a number above 0, not "0"/,
    '--redis here': /--redis must be HOST:PORT, not "here"/,
    '--peer localhost:99999 --redis a:1': /--peer must be HOST:PORT, not "localhost:99999"/,
    '--peer localhost:8081': /--peer needs --redis HOST:PORT/,
    '--peer-pid 12': /--peer-pid needs --peer/,
    '--peer a:1 --peer-program b --redis c:2': /not both/,
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

test('a running peer is set by address, Redis and process', () => {
  const args = ['--peer', 'localhost:8081', '--peer-pid', '12', '--redis', '127.0.0.1:6379']
  const { peer, redis } = parseSettings(args)
  assert.deepEqual(peer, {
    kind: 'running',
    target: { host: 'localhost', port: 8081 },
    pid: 12,
  })
  assert.equal(redis, '127.0.0.1:6379')
})

test('results are stored only after a complete run with a peer', () => {
  const peer = ['--peer-program', 'ratelimit']
  assert.equal(parseSettings(peer).isComplete, true)
  assert.equal(parseSettings([]).isComplete, false)
  assert.equal(parseSettings([...peer, '--quick']).isComplete, false)
  assert.equal(parseSettings([...peer, '--only', 'stores,memory']).isComplete, false)
})

test('a quick run is short, and explicit options override it', () => {
  assert.deepEqual(parseSettings(['--quick', '--rounds', '5']).plan, {
    rounds: 5,
    starts: 1,
    seconds: 0.5,
    warmupSeconds: 1,
  })
})

test('groups and measurements without a peer can be selected', () => {
  const { groups, solo } = parseSettings(['--only', 'pauses,steady'])
  assert.deepEqual({ groups, solo }, { groups: ['steady'], solo: ['pauses'] })
})
