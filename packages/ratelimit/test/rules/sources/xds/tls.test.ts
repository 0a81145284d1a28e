import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ServerCredentials } from '@grpc/grpc-js'
import { createAuthority, type Identity } from '@portcullis/test-servers'
import type { XdsTlsFiles } from '../../../../src/rules/sources/xds/tls.ts'
import { makeDirectory, until } from '../../../support/file-source.ts'
import { type AdsServer, openAdsServer, toRules } from './support/ads-server.ts'
import { openSource, type WatchedSource } from './support/xds-source.ts'

const authority = createAuthority('servers')
const clients = createAuthority('clients')

const noFiles: XdsTlsFiles = {
  certPath: undefined,
  keyPath: undefined,
  caPath: undefined,
  serverName: undefined,
}

async function write(t: TestContext, texts: Record<string, string>): Promise<string> {
  const directory = await makeDirectory(t)
  for (const [name, text] of Object.entries(texts)) await writeFile(join(directory, name), text)
  return directory
}

/** A server that sends one set of rules over TLS. */
function openTlsServer(t: TestContext, identity: Identity, clientCa?: string): Promise<AdsServer> {
  const pair = {
    cert_chain: Buffer.from(identity.certificate),
    private_key: Buffer.from(identity.key),
  }
  const ca = clientCa === undefined ? null : Buffer.from(clientCa)
  return openAdsServer(t, {
    credentials: ServerCredentials.createSsl(ca, [pair], ca !== null),
    onStream: (stream) => stream.send({ version: '1', nonce: '1', resources: [toRules(1)] }),
  })
}

async function waitForLoss(source: WatchedSource, reason: RegExp): Promise<void> {
  await until(() => source.lines.some((line) => reason.test(line)), `${reason} is logged`)
  assert.equal(source.snapshots.length, 0)
}

test('a server with a certificate of the configured CA is trusted', async (t) => {
  const server = await openTlsServer(t, authority.issue('127.0.0.1'))
  const directory = await write(t, { 'ca.pem': authority.certificate })
  const tls = { ...noFiles, caPath: join(directory, 'ca.pem') }
  const source = openSource(t, { serverUrl: server.url, tls })
  await source.firstAttempt
  assert.equal(source.requests(), 1)
})

test('a server with a certificate of an unknown CA is not trusted', async (t) => {
  const server = await openTlsServer(t, authority.issue('127.0.0.1'))
  const source = openSource(t, { serverUrl: server.url, tls: noFiles })
  await waitForLoss(source, /^error .* cannot be reached: unable to (?:verify|get)/)
  assert.equal(server.streams.length, 0)
})

test('a certificate for another name is refused, unless that name is configured', async (t) => {
  const server = await openTlsServer(t, authority.issue('xds.example'))
  const directory = await write(t, { 'ca.pem': authority.certificate })
  const tls = { ...noFiles, caPath: join(directory, 'ca.pem') }
  const untrusted = openSource(t, { serverUrl: server.url, tls })
  await waitForLoss(untrusted, /^error .* cannot be reached: .*(?:altnames|cert's)/)
  await untrusted.close()

  const other = { ...tls, serverName: 'other.example' }
  const misled = openSource(t, { serverUrl: server.url, tls: other })
  await waitForLoss(misled, /^error .* cannot be reached: .*other\.example/)
  await misled.close()

  const named = { ...tls, serverName: 'xds.example' }
  const source = openSource(t, { serverUrl: server.url, tls: named })
  await source.firstAttempt
  assert.equal(source.requests(), 1)
})

test('the configured name may be an IP address', async (t) => {
  const server = await openTlsServer(t, authority.issue('10.1.2.3'))
  const directory = await write(t, { 'ca.pem': authority.certificate })
  const tls = { ...noFiles, caPath: join(directory, 'ca.pem'), serverName: '10.1.2.3' }
  const source = openSource(t, { serverUrl: server.url, tls })
  await source.firstAttempt
  assert.equal(source.requests(), 1)
})

test('the client certificate is presented to a server that requires one, and a renewed one later', async (t) => {
  const identity = clients.issue('ratelimit')
  const untrusted = createAuthority('another CA').issue('ratelimit')
  const directory = await write(t, {
    'ca.pem': authority.certificate,
    'cert.pem': untrusted.certificate,
    'key.pem': untrusted.key,
  })
  const [caPath, certPath, keyPath] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) =>
    join(directory, name),
  )
  const tls = { caPath, certPath, keyPath, serverName: undefined }
  const server = await openTlsServer(t, authority.issue('127.0.0.1'), clients.certificate)
  const source = openSource(t, { serverUrl: server.url, tls })
  await waitForLoss(source, /^error Failed to receive configuration/)
  await writeFile(join(directory, 'cert.pem'), identity.certificate)
  await writeFile(join(directory, 'key.pem'), identity.key)
  await source.firstAttempt
  assert.equal(source.requests(), 1)
})

test('a server without TLS is reported', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url, tls: noFiles })
  await waitForLoss(source, /^error .* cannot be reached: /)
})

test('files that cannot be read or do not match are refused at startup', async (t) => {
  const directory = await write(t, { 'cert.pem': 'no certificate', 'key.pem': 'no key' })
  const open = (tls: Partial<XdsTlsFiles>) => () =>
    openSource(t, { serverUrl: '127.0.0.1:1', tls: { ...noFiles, ...tls } })
  assert.throws(
    open({ caPath: join(directory, 'none.pem') }),
    /none\.pem of CONFIG_GRPC_XDS_SERVER_TLS_CACERT cannot be read: no such file or directory$/,
  )
  assert.throws(
    open({ certPath: join(directory, 'cert.pem'), keyPath: join(directory, 'key.pem') }),
    /The TLS files for the management server cannot be used/,
  )
})
