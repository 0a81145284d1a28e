import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { StopSignal } from '../../src/process/lifecycle.ts'
import type { FromWorker, Message } from '../../src/workers/messages.ts'
import { PrimaryLink } from '../../src/workers/primary-link.ts'

class Link extends PrimaryLink<Message, Message> {
  readonly received: Message[] = []

  protected handleMessage(message: Message): void {
    this.received.push(message)
  }
}

function openLink() {
  const sent: (FromWorker | Message)[] = []
  const signals: StopSignal[] = []
  const channel = {
    connected: true,
    send(message: FromWorker | Message, _: undefined, __: undefined, done: (e: null) => void) {
      sent.push(message)
      done(null)
      return true
    },
  }
  const link = new Link(channel, (signal) => signals.push(signal))
  return { link, channel, sent, signals }
}

function openSocket(t: TestContext): Socket {
  const socket = new Socket()
  t.after(() => socket.destroy())
  return socket
}

test('only messages of the service itself are passed to the service', () => {
  const { link, signals } = openLink()
  link.take({ kind: 'start', start: {} }, undefined)
  link.take({ kind: 'stop', signal: 'SIGTERM' }, undefined)
  link.take({ kind: 'rules' }, undefined)
  assert.deepEqual(link.received, [{ kind: 'rules' }])
  assert.deepEqual(signals, ['SIGTERM'])
})

test('a connection goes to its listener, with the bytes that the primary has read', (t) => {
  const { link, sent } = openLink()
  const adopted: Socket[] = []
  link.serve('http', (socket) => adopted.push(socket))
  link.serve('grpc', () => assert.fail('the connection is for another listener'))
  const [plain, read] = [openSocket(t), openSocket(t)]
  link.take({ kind: 'connection', listener: 'http' }, plain)
  link.take({ kind: 'connection', listener: 'http', read: 'GET /' }, read)
  assert.deepEqual(adopted, [plain, read])
  assert.equal(plain.read(), null)
  assert.equal(String(read.read()), 'GET /')
  assert.deepEqual(sent, [
    { kind: 'adopted', count: 0 },
    { kind: 'adopted', count: 0 },
  ])
})

test('a connection to an unknown listener is closed, and the next one is accepted', (t) => {
  const { link, sent } = openLink()
  const socket = openSocket(t)
  link.take({ kind: 'connection', listener: 'none' }, socket)
  assert.equal(socket.destroyed, true)
  assert.deepEqual(sent, [{ kind: 'adopted', count: 0 }])
})

test('a connection whose client disconnected during the transfer is reported as arrived, and does not count', () => {
  const { link, sent } = openLink()
  link.serve('http', () => assert.fail('the client has disconnected'))
  link.reportConnections('http', 3)
  link.take({ kind: 'connection', listener: 'http' }, undefined)
  assert.deepEqual(sent, [
    { kind: 'connections', listener: 'http', count: 3 },
    { kind: 'adopted', count: 3 },
  ])
})

test('a new connection is counted in the adopted message, and later changes in their own', (t) => {
  const { link, sent } = openLink()
  link.serve('http', () => {
    link.reportConnections('http', 1)
    link.reportConnections('grpc', 5)
    link.reportAddress('192.0.2.1', 3)
  })
  link.take({ kind: 'connection', listener: 'http' }, openSocket(t))
  for (const count of [1, 0, 0]) link.reportConnections('http', count)
  link.reportAddress('192.0.2.1', 2)
  assert.deepEqual(sent, [
    { kind: 'connections', listener: 'grpc', count: 5 },
    { kind: 'adopted', count: 1, address: { address: '192.0.2.1', count: 3 } },
    { kind: 'connections', listener: 'http', count: 0 },
    { kind: 'address', address: '192.0.2.1', count: 2 },
  ])
})

test('nothing is sent after the primary has ended, and send resolves', async () => {
  const { link, channel, sent } = openLink()
  channel.connected = false
  await link.send({ kind: 'ready' })
  assert.deepEqual(sent, [])
})
