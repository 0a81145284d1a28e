import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectNet } from 'node:net'
import { test } from 'node:test'
import { type ConnectionOptions, connect, createSecureContext } from 'node:tls'
import { credentials } from '@grpc/grpc-js'
import { openAuthority } from './support/certificates.ts'
import { openEchoServer, until } from './support/echo-server.ts'
import { callUnary, openGrpcJsClient } from './support/grpc-js-client.ts'

const SAY = '/test.Echo/Say'

/** The name in the server's certificate, and the negotiated protocol. */
async function greet(port: number, options: ConnectionOptions) {
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    ALPNProtocols: ['h2'],
    rejectUnauthorized: false,
    ...options,
  })
  await once(socket, 'secureConnect')
  const name = socket.getPeerCertificate().subject.CN
  socket.on('error', () => {})
  return { socket, name }
}

test('calls over TLS, large ones too', async (t) => {
  const authority = openAuthority()
  const { port } = await openEchoServer(t, { tls: authority.sign('localhost') })
  const client = openGrpcJsClient(
    t,
    `localhost:${port}`,
    credentials.createSsl(Buffer.from(authority.ca)),
  )
  const texts = ['small', 'l'.repeat(2 ** 20), ...Array.from({ length: 100 }, (_, i) => `n${i}`)]
  const outcomes = await Promise.all(texts.map((text) => callUnary(client, SAY, text)))
  assert.ok(outcomes.every(({ message }, index) => message === texts[index]))
})

test('new certificates are used without a restart, and a bad pair is refused', async (t) => {
  const authority = openAuthority()
  const first = authority.sign('first')
  const second = authority.sign('second')
  const { port, server } = await openEchoServer(t, { tls: first })
  const before = await greet(port, {})
  assert.equal(before.name, 'first')
  assert.throws(() => server.renewTls({ key: first.key, cert: second.cert }))
  server.renewTls(second)
  const after = await greet(port, {})
  assert.equal(after.name, 'second')
  before.socket.destroy()
  after.socket.destroy()
})

test('a client may request another server name', async (t) => {
  const authority = openAuthority()
  const other = createSecureContext(authority.sign('other'))
  const { port } = await openEchoServer(t, {
    tls: {
      ...authority.sign('main'),
      contextFor: (name) => (name === 'other' ? other : undefined),
    },
  })
  for (const name of ['main', 'other']) {
    const { socket, name: shown } = await greet(port, { servername: name })
    assert.equal(shown, name)
    socket.destroy()
  }
})

test('only clients with a certificate from the authority and the right name are accepted', async (t) => {
  const authority = openAuthority()
  const unknownSigner = await openAuthority().sign('envoy')
  const trusted = authority.sign('envoy')
  const wrongName = authority.sign('other')
  const { port, reported } = await openEchoServer(t, {
    tls: {
      ...authority.sign('localhost'),
      ca: authority.ca,
      requestCert: true,
      refusePeer: (certificate) =>
        certificate?.checkHost('envoy') ? undefined : 'certificate is not valid for envoy',
    },
  })
  const call = async (identity?: { key: string; cert: string }) => {
    const channel = credentials.createSsl(
      Buffer.from(authority.ca),
      identity ? Buffer.from(identity.key) : null,
      identity ? Buffer.from(identity.cert) : null,
    )
    const client = openGrpcJsClient(t, `localhost:${port}`, channel)
    return await callUnary(client, SAY, 'hi', { options: { deadline: Date.now() + 120_000 } })
  }
  assert.equal((await call(trusted)).message, 'hi')
  for (const identity of [undefined, unknownSigner, wrongName]) {
    const { error } = await call(identity)
    assert.ok(error, 'the call failed')
  }
  const reasons = [
    'certificate is not valid for envoy',
    'it presented no certificate',
    'its certificate is not trusted',
  ]
  for (const reason of reasons) {
    const expected = `Error: error validating client: ${reason}`
    await until(() => reported.some((error) => String(error).startsWith(expected)))
  }
})

test('a client that does not negotiate h2 is not served', async (t) => {
  const authority = openAuthority()
  const { port, server } = await openEchoServer(t, { tls: authority.sign('localhost') })
  const { socket } = await greet(port, { ALPNProtocols: [] })
  await once(socket, 'close')
  assert.equal(server.connections, 0)
})

test('closing ends unfinished handshakes', async (t) => {
  const authority = openAuthority()
  const { port, server } = await openEchoServer(t, { tls: authority.sign('localhost') })
  const silent = connectNet(port, '127.0.0.1')
  silent.on('error', () => {})
  await once(silent, 'connect')
  const { socket } = await greet(port, {})
  await until(() => server.connections === 1)
  const closed = once(silent, 'close')
  silent.resume()
  await server.close()
  await closed
  assert.equal(server.connections, 0)
  socket.destroy()
})
