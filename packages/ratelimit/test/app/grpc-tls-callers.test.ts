import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { createAuthority, type Identity } from '@portcullis/test-servers'
import { until } from '../support/service-process.ts'
import {
  callOnce,
  makeFolder,
  openTlsListener,
  replace,
  toPaths,
  writePair,
} from '../support/tls-listener.ts'

const servers = createAuthority('servers')
const clients = createAuthority('clients')

async function openWithCa(t: TestContext, clientSan?: string) {
  const folder = await makeFolder(t)
  await writePair(folder, servers.issue('localhost'))
  const clientCaPath = join(folder, 'ca.crt')
  await replace(clientCaPath, clients.certificate)
  const listener = await openTlsListener(t, toPaths(folder, { clientCaPath, clientSan }))
  return { ...listener, clientCaPath }
}

test('only clients of the configured CA are accepted, and every refusal is logged', async (t) => {
  const { port, lines } = await openWithCa(t)
  const refused: [Identity | undefined, RegExp][] = [
    [undefined, /it presented no certificate/],
    [createAuthority('clients').issue('envoy'), /its certificate is not trusted \(\w+\)/],
    [clients.issue('envoy', { expiresInMs: -1_000 }), /its certificate has expired/],
    [clients.issue('envoy', { usage: 'server' }), /its certificate is not for client auth/],
  ]
  for (const [identity, reason] of refused) {
    lines.length = 0
    assert.notEqual((await callOnce(port, servers, identity)).code, 0, String(reason))
    await until(
      () => lines.length > 0,
      () => `the refusal is logged: ${reason}`,
    )
    assert.match(lines[0] ?? '', /^report error validating client: /)
    assert.match(lines[0] ?? '', reason)
    assert.match(lines[0] ?? '', / \(from 127\.0\.0\.1\)$/)
  }
  lines.length = 0
  await assert.rejects(fetch(`http://127.0.0.1:${port}/`))
  await until(
    () => lines.length > 0,
    () => 'a client without TLS is logged',
  )
  assert.match(lines[0] ?? '', /it speaks HTTP without TLS \(from 127\.0\.0\.1\)/)

  assert.equal((await callOnce(port, servers, clients.issue('envoy'))).code, 0)
  const forClients = clients.issue('envoy', { usage: 'client' })
  assert.equal((await callOnce(port, servers, forClients)).code, 0)
})

const names: [wanted: string, accepted: string[], refused: string[]][] = [
  [
    'envoy.mesh.example',
    ['envoy.mesh.example', 'ENVOY.mesh.example', '*.mesh.example'],
    ['mesh.example', '*.example', 'en*.mesh.example', 'x.envoy.mesh.example', 'spiffe://envoy'],
  ],
  [
    'spiffe://mesh/ns/a,b/sa/envoy',
    ['spiffe://mesh/ns/a,b/sa/envoy'],
    ['spiffe://mesh/ns/a,b/sa/envoy2', 'spiffe://mesh/ns/a', 'spiffe'],
  ],
  ['10.0.0.7', ['10.0.0.7'], ['10.0.0.8']],
  ['.mesh.example', [], ['envoy.mesh.example', '*.mesh.example']],
]

for (const [wanted, accepted, refused] of names) {
  test(`client certificates must be valid for ${wanted}`, async (t) => {
    const { port, lines } = await openWithCa(t, wanted)
    for (const name of accepted) {
      assert.equal((await callOnce(port, servers, clients.issue(name))).code, 0, name)
    }
    assert.deepEqual(
      lines.filter((line) => line.startsWith('report')),
      [],
    )
    for (const [index, name] of refused.entries()) {
      assert.notEqual((await callOnce(port, servers, clients.issue(name))).code, 0, name)
      await until(
        () => lines.filter((line) => line.startsWith('report')).length > index,
        () => `the refusal of ${name} is logged`,
      )
      assert.match(lines.at(-1) ?? '', /^report error validating client: its certificate is for /)
    }
  })
}

test('a new CA file is used without a restart, unless it is empty or truncated', async (t) => {
  const { port, clientCaPath, lines } = await openWithCa(t)
  const old = clients.issue('envoy')
  const next = createAuthority('next clients')
  const faults: [string, RegExp][] = [
    ['', /GRPC_CLIENT_TLS_CACERT: .+ca\.crt contains no certificate/],
    [next.certificate.slice(0, 200), /ca\.crt ends in the middle of a certificate/],
  ]
  for (const [text, fault] of faults) {
    await replace(clientCaPath, text)
    await until(
      () => lines.some((line) => fault.test(line)),
      () => `${fault} is logged`,
    )
    assert.equal((await callOnce(port, servers, old)).code, 0)
    assert.notEqual((await callOnce(port, servers, next.issue('envoy'))).code, 0)
  }
  await replace(clientCaPath, next.certificate)
  await until(
    async () => (await callOnce(port, servers, next.issue('envoy'))).code === 0,
    () => 'the new CA is trusted',
  )
  assert.notEqual((await callOnce(port, servers, old)).code, 0)
})

test('TLS versions before 1.2 are refused', async (t) => {
  const { port } = await openWithCa(t)
  const tryVersion = (maxVersion: 'TLSv1.1' | 'TLSv1.2') =>
    new Promise<string>((resolve) => {
      const { certificate: cert, key } = clients.issue('envoy')
      const socket = connect({
        host: '127.0.0.1',
        port,
        cert,
        key,
        ca: servers.certificate,
        servername: 'localhost',
        ALPNProtocols: ['h2'],
        minVersion: 'TLSv1',
        maxVersion,
        ciphers: 'DEFAULT@SECLEVEL=0',
      })
      socket.on('secureConnect', () => {
        resolve(`${socket.getProtocol()} ${socket.alpnProtocol}`)
        socket.destroy()
      })
      socket.on('error', (error) => resolve(error.message))
    })
  assert.equal(await tryVersion('TLSv1.2'), 'TLSv1.2 h2')
  assert.match(await tryVersion('TLSv1.1'), /protocol version/)
})
