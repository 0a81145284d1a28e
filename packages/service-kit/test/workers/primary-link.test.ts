import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { StopSignal } from '../../src/lifecycle.ts'
import type { FromWorker, Message } from '../../src/workers/messages.ts'
import { PrimaryLink } from '../../src/workers/primary-link.ts'

class Link extends PrimaryLink<Message, Message> {
  readonly heard: Message[] = []
  readonly neverCame: string[] = []

  protected hear(message: Message): void {
    this.heard.push(message)
  }

  protected override onNeverCame(listener: string): void {
    this.neverCame.push(listener)
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

test('only messages that not every primary sends are for the service', () => {
  const { link, signals } = openLink()
  link.take({ kind: 'start', start: {} }, undefined)
  link.take({ kind: 'stop', signal: 'SIGTERM' }, undefined)
  link.take({ kind: 'rules' }, undefined)
  assert.deepEqual(link.heard, [{ kind: 'rules' }])
  assert.deepEqual(signals, ['SIGTERM'])
})

test('a connection goes to its listener, with what the primary has read of it', (t) => {
  const { link, sent } = openLink()
  const adopted: Socket[] = []
  link.pass('http', (socket) => adopted.push(socket))
  link.pass('grpc', () => assert.fail('the connection is for another listener'))
  const [plain, read] = [openSocket(t), openSocket(t)]
  link.take({ kind: 'connection', listener: 'http' }, plain)
  link.take({ kind: 'connection', listener: 'http', read: 'GET /' }, read)
  assert.deepEqual(adopted, [plain, read])
  assert.equal(plain.read(), null)
  assert.equal(String(read.read()), 'GET /')
  assert.deepEqual(sent, [{ kind: 'adopted' }, { kind: 'adopted' }])
})

test('a connection to a listener that is not there is closed, and the next one may come', (t) => {
  const { link, sent } = openLink()
  const socket = openSocket(t)
  link.take({ kind: 'connection', listener: 'none' }, socket)
  assert.equal(socket.destroyed, true)
  assert.deepEqual(sent, [{ kind: 'adopted' }])
})

test('a connection whose client left on the way is reported by its listener', () => {
  const { link, sent } = openLink()
  link.pass('http', () => assert.fail('there is no connection'))
  link.take({ kind: 'connection', listener: 'http' }, undefined)
  assert.deepEqual(link.neverCame, ['http'])
  assert.deepEqual(sent, [{ kind: 'adopted' }])
})

test('nothing is sent when the primary is gone, and nobody waits for it', async () => {
  const { link, channel, sent } = openLink()
  channel.connected = false
  await link.send({ kind: 'ready' })
  assert.deepEqual(sent, [])
})
