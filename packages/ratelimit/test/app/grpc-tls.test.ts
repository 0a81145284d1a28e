import assert from 'node:assert/strict'
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createAuthority, type Identity } from '@portcullis/test-servers'
import { until } from '../support/service-process.ts'
import {
  callOnce,
  makeFolder,
  openTlsListener,
  readShownName,
  replace,
  toPaths,
  writePair,
} from '../support/tls-listener.ts'

const authority = createAuthority('servers')
const month = 30 * 86_400_000
const issue = (name: string) => authority.issue(name, { expiresInMs: month })

async function openWithFiles(t: TestContext, identity: Identity) {
  const folder = await makeFolder(t)
  await writePair(folder, identity)
  const listener = await openTlsListener(t, toPaths(folder))
  return {
    ...listener,
    folder,
    certPath: join(folder, 'tls.crt'),
    keyPath: join(folder, 'tls.key'),
  }
}

const untilShown = (port: number, name: string) =>
  until(
    async () => (await readShownName(port)) === name,
    () => `the server presents ${name}`,
  )

test('new files are used without a restart, and logged once', async (t) => {
  const { folder, port, lines } = await openWithFiles(t, issue('first'))
  assert.equal(await readShownName(port), 'first')
  assert.equal(lines.length, 0)
  await writePair(folder, issue('second'))
  await untilShown(port, 'second')
  assert.deepEqual(
    lines.filter((line) => line.startsWith('info')),
    [`info The gRPC listener uses the new TLS files in ${folder}`],
  )
})

test('files that are written in place, in pieces, are used once they are complete', async (t) => {
  const { certPath, keyPath, port } = await openWithFiles(t, issue('first'))
  const { certificate, key } = issue('second')
  const half = Math.floor(certificate.length / 2)
  await writeFile(keyPath, key.slice(0, 40))
  await writeFile(certPath, certificate.slice(0, half))
  await wait(150)
  assert.equal(await readShownName(port), 'first')
  await writeFile(certPath, certificate)
  await writeFile(keyPath, key)
  await untilShown(port, 'second')
})

test('a new certificate is not used until its key arrives', async (t) => {
  const { certPath, keyPath, port, lines } = await openWithFiles(t, issue('first'))
  const second = issue('second')
  await replace(certPath, second.certificate)
  await until(
    () => lines.length > 0,
    () => 'the error is logged',
  )
  assert.equal(
    lines[0],
    'error The gRPC listener keeps its TLS certificate because the new files cannot be used: the key in ' +
      `${keyPath} (GRPC_SERVER_TLS_KEY) does not belong to the certificate in ${certPath} ` +
      '(GRPC_SERVER_TLS_CERT)',
  )
  assert.equal((await callOnce(port, authority)).code, 0)
  assert.equal(await readShownName(port), 'first')
  await replace(keyPath, second.key)
  await untilShown(port, 'second')
})

test('an invalid certificate is logged once, and the old one is kept', async (t) => {
  const { certPath, port, lines } = await openWithFiles(t, issue('first'))
  await replace(certPath, 'nonsense')
  await until(
    () => lines.length > 0,
    () => 'the error is logged',
  )
  await chmod(certPath, 0o600)
  await wait(250)
  assert.equal(lines.length, 1)
  assert.match(
    lines[0] ?? '',
    /cannot be used: GRPC_SERVER_TLS_CERT: .+tls\.crt contains no certificate/,
  )
  assert.equal(await readShownName(port), 'first')
})

test('the links of a Kubernetes secret are followed when they are swapped', async (t) => {
  const folder = await makeFolder(t)
  const swap = async (version: string, identity: Identity) => {
    await mkdir(join(folder, version))
    await writePair(join(folder, version), identity)
    await symlink(version, join(folder, '..data_tmp'))
    await rename(join(folder, '..data_tmp'), join(folder, '..data'))
  }
  await swap('..2026_01', issue('first'))
  for (const name of ['tls.crt', 'tls.key']) await symlink(`..data/${name}`, join(folder, name))
  const { port, lines } = await openTlsListener(t, toPaths(folder))
  assert.equal(await readShownName(port), 'first')
  await swap('..2026_02', issue('second'))
  await rm(join(folder, '..2026_01'), { recursive: true })
  await untilShown(port, 'second')
  assert.deepEqual(
    lines.filter((line) => line.startsWith('error')),
    [],
  )
})

test('a folder that is deleted and created again with other files is noticed', async (t) => {
  const parent = await makeFolder(t)
  const folder = join(parent, 'tls')
  await mkdir(folder)
  await writePair(folder, issue('first'))
  const { port, lines } = await openTlsListener(t, toPaths(folder))
  await rm(folder, { recursive: true })
  await until(
    () => lines.some((line) => line.includes('cannot be read')),
    () => 'the loss is logged',
  )
  assert.equal(await readShownName(port), 'first')
  await mkdir(folder)
  await writePair(folder, issue('second'))
  await untilShown(port, 'second')
})

test('no call is lost when certificates change under load', async (t) => {
  const { folder, port, lines } = await openWithFiles(t, issue('0'))
  const outcomes: string[] = []
  let isOver = false
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const { code, message } = await callOnce(port, authority)
      outcomes.push(`${code} ${message}`)
    }
  })
  for (let change = 1; change <= 5; change += 1) {
    await writePair(folder, issue(`${change}`))
    await untilShown(port, `${change}`)
  }
  isOver = true
  await Promise.all(clients)
  assert.ok(outcomes.length >= 5)
  assert.deepEqual(
    outcomes.filter((outcome) => outcome !== '0 '),
    [],
  )
  assert.equal(lines.filter((line) => line.includes('uses the new TLS files')).length, 5)
})

for (const { days, expected } of [
  { days: 30, expected: [] },
  { days: 6.6, expected: [/^warning .+tls\.crt\) expires in 6\.\d days, on 20/] },
  { days: -1, expected: [/^warning .+tls\.crt\) expired on 20.+: clients will refuse it/] },
]) {
  test(`a certificate that expires in ${days} days ${expected.length ? 'causes a warning' : 'causes no warning'}`, async (t) => {
    const { lines } = await openWithFiles(
      t,
      authority.issue('host', { expiresInMs: days * 86_400_000 }),
    )
    assert.equal(lines.length, expected.length)
    for (const [index, pattern] of expected.entries()) assert.match(lines[index] ?? '', pattern)
  })
}
