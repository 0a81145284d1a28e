import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import type { FromWorker as FromEveryWorker } from '@portcullis/service-kit/workers/messages'
import type { Channel } from '@portcullis/service-kit/workers/primary-link'
import { AuthLink, type FromWorker, listener } from '../../src/workers/group.ts'

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

test('admitted requests are reported in batches, once per address', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { link, sent } = openLink()
  for (const key of ['a', 'b', 'a', 'a']) link.peers.report('otp', key, 1)
  link.peers.report('token', 'a', 1)
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
  link.peers.report('otp', 'a', 1)
  t.mock.timers.tick(100)
  assert.deepEqual(sent[1], { kind: 'admitted', counts: [['otp', 'a', 1]] })
})

test('requests admitted by other workers are counted, and a closed connection is not', () => {
  const { link, sent, stops } = openLink()
  const reported: unknown[] = []
  link.peers.onReport((...taken) => reported.push(taken))
  link.take({ kind: 'admitted', counts: [['verify', 'a', 2]] }, undefined)
  assert.deepEqual(reported, [['verify', 'a', 2]])
  link.take({ kind: 'connection', listener }, undefined)
  assert.deepEqual(sent, [{ kind: 'adopted', count: 0 }])
  link.take({ kind: 'stop', signal: 'SIGTERM' }, undefined)
  assert.deepEqual(stops, ['SIGTERM'])
})

test('connections are counted from their arrival until they are closed', (t) => {
  const { link, sent } = openLink()
  const adopted: Socket[] = []
  link.receive((socket) => adopted.push(socket))
  const sockets = [new Socket(), new Socket()]
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (const socket of sockets) link.take({ kind: 'connection', listener }, socket)
  assert.deepEqual(adopted, sockets)
  link.reportClosed()
  assert.deepEqual(sent, [
    { kind: 'adopted', count: 1 },
    { kind: 'adopted', count: 2 },
    { kind: 'connections', listener, count: 1 },
  ])
})

test('a connection that is refused on arrival is not counted', (t) => {
  const { link, sent } = openLink()
  link.receive(() => link.reportClosed())
  const socket = new Socket()
  t.after(() => socket.destroy())
  link.take({ kind: 'connection', listener }, socket)
  assert.deepEqual(sent, [{ kind: 'adopted', count: 0 }])
})

test('a warning is sent to the primary, which knows whether it is the first', () => {
  const { link, sent } = openLink()
  link.warnOnce('forwarding', 'a proxy')
  assert.deepEqual(sent, [{ kind: 'warning', topic: 'forwarding', message: 'a proxy' }])
})

test('nothing is sent to a primary that has exited', async () => {
  const { link, sent, channel } = openLink()
  channel.connected = false
  await link.send({ kind: 'ready' })
  assert.deepEqual(sent, [])
})
