import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FromWorker as FromEveryWorker } from '@portcullis/service-kit/workers/messages'
import type { Channel } from '@portcullis/service-kit/workers/primary-link'
import { type FromWorker, listener } from '../../src/workers/messages.ts'
import { AuthLink } from '../../src/workers/primary-link.ts'

function openLink() {
  const sent: (FromWorker | FromEveryWorker)[] = []
  const send: NonNullable<Channel<FromWorker>['send']> = (message, _handle, _options, done) => {
    sent.push(message)
    done(null)
    return true
  }
  const channel = { connected: true, send }
  const stops: string[] = []
  const place = { number: 2, size: 3 }
  const link = new AuthLink(channel, place, (signal) => stops.push(signal))
  return { link, sent, stops, channel }
}

test('requests that passed are told together, once for each address', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { link, sent } = openLink()
  for (const key of ['a', 'b', 'a', 'a']) link.peers.tell('otp', key, 1)
  link.peers.tell('token', 'a', 1)
  assert.deepEqual(sent, [])
  t.mock.timers.tick(100)
  const counts = [
    ['otp', 'a', 3],
    ['otp', 'b', 1],
    ['token', 'a', 1],
  ]
  assert.deepEqual(sent, [{ kind: 'admitted', counts }])
  t.mock.timers.tick(1_000)
  assert.equal(sent.length, 1)
  link.peers.tell('otp', 'a', 1)
  t.mock.timers.tick(100)
  assert.deepEqual(sent[1], { kind: 'admitted', counts: [['otp', 'a', 1]] })
})

test('what passed elsewhere is heard, and a connection whose client has left is counted out', () => {
  const { link, sent, stops } = openLink()
  const heard: unknown[] = []
  link.peers.hear((...taken) => heard.push(taken))
  link.take({ kind: 'admitted', counts: [['verify', 'a', 2]] }, undefined)
  assert.deepEqual(heard, [['verify', 'a', 2]])
  link.take({ kind: 'connection', listener }, undefined)
  assert.deepEqual(sent, [{ kind: 'closed' }, { kind: 'adopted' }])
  link.take({ kind: 'stop', signal: 'SIGTERM' }, undefined)
  assert.deepEqual(stops, ['SIGTERM'])
})

test('a warning goes to the primary, which knows whether it is the first', () => {
  const { link, sent } = openLink()
  link.warnOnce('forwarding', 'a proxy')
  assert.deepEqual(sent, [{ kind: 'warning', topic: 'forwarding', message: 'a proxy' }])
})

test('nothing is sent to a primary that is gone', async () => {
  const { link, sent, channel } = openLink()
  channel.connected = false
  await link.send({ kind: 'ready' })
  assert.deepEqual(sent, [])
})
