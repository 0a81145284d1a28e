import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openGrpcClient } from '@portcullis/grpc-unary/client'
import { createAuthority } from '@portcullis/test-servers'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import { decisionPath, toBytes, toResponse } from '../support/service-client.ts'
import { launchService, startService, until } from '../support/service-process.ts'
import { makeFolder, readShownName, writePair } from '../support/tls-listener.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 9 } }]\n'
const authority = createAuthority('authority')

function toEnvironment(folder: string) {
  return {
    GRPC_SERVER_USE_TLS: 'true',
    GRPC_SERVER_TLS_CERT: join(folder, 'tls.crt'),
    GRPC_SERVER_TLS_KEY: join(folder, 'tls.key'),
  }
}

async function makeTlsFolder(t: TestContext): Promise<string> {
  const folder = await makeFolder(t)
  await writePair(folder, authority.issue('localhost'))
  return folder
}

test('the service makes decisions over mutual TLS, and reloads its files', async (t) => {
  const folder = await makeTlsFolder(t)
  await writeFile(join(folder, 'ca.crt'), authority.certificate)
  const service = await startService(t, {
    rules,
    env: {
      ...toEnvironment(folder),
      GRPC_CLIENT_TLS_CACERT: join(folder, 'ca.crt'),
      GRPC_CLIENT_TLS_SAN: 'spiffe://mesh/envoy',
    },
  })
  const connect = async (name: string) => {
    const { certificate: cert, key } = authority.issue(name)
    const tls = { ca: authority.certificate, cert, key, checkServerIdentity: () => undefined }
    const client = await openGrpcClient({ address: service.grpcAddress, tls })
    t.after(() => client.close())
    return client
  }
  const request = toBytes(requestFor('d', descriptor('k=v')))
  const welcome = await connect('spiffe://mesh/envoy')
  assert.equal(toResponse(await welcome.call(decisionPath, request)).statuses.length, 1)
  const untrusted = await connect('spiffe://mesh/other')
  assert.notEqual((await untrusted.call(decisionPath, request)).code, 0)
  await until(
    () => service.log.includes('error validating client: its certificate is for URI:spiffe'),
    () => 'the refusal is in the log',
  )

  await writePair(folder, authority.issue('renewed'))
  const port = Number(service.grpcAddress.split(':').at(-1))
  // Clients that fail all the time do not fill the log.
  let failed = 0
  await until(
    async () => {
      const tries = Array.from({ length: 20 }, () => fetch(`http://127.0.0.1:${port}/`))
      await Promise.allSettled(tries)
      failed += tries.length
      return service.log.includes('it speaks HTTP without TLS (from 127.0.0.1) (')
    },
    () => 'one log line represents many refusals',
  )
  assert.ok(service.log.split('it speaks HTTP without TLS').length - 1 < failed)
  await until(
    async () => (await readShownName(port)) === 'renewed',
    () => 'the new certificate is presented',
  )
  // Existing connections continue to work.
  assert.equal(toResponse(await welcome.call(decisionPath, request)).statuses.length, 1)
  assert.equal(await service.stop(), 0)
})

interface Fault {
  readonly name: string
  /** Makes the files invalid and returns additional environment variables. */
  readonly spoil: (folder: string) => Promise<object>
  readonly message: RegExp
}

async function writeKey(folder: string, text: string): Promise<object> {
  await writeFile(join(folder, 'tls.key'), text)
  return {}
}

const faults: readonly Fault[] = [
  {
    name: 'a missing certificate',
    spoil: async (folder) => ({ GRPC_SERVER_TLS_CERT: join(folder, 'none.crt') }),
    message: /GRPC_SERVER_TLS_CERT: \S+none\.crt cannot be read \(no such file/,
  },
  {
    name: 'an empty key',
    spoil: (folder) => writeKey(folder, ''),
    message: /GRPC_SERVER_TLS_KEY: \S+tls\.key contains no usable private key/,
  },
  {
    name: 'a key of another certificate',
    spoil: (folder) => writeKey(folder, authority.key),
    message: /the key in \S+tls\.key \(GRPC_SERVER_TLS_KEY\) does not belong to the certificate/,
  },
  {
    name: 'an invalid CA',
    spoil: async (folder) => ({ GRPC_CLIENT_TLS_CACERT: join(folder, 'tls.key') }),
    message: /GRPC_CLIENT_TLS_CACERT: \S+tls\.key contains no certificate \(PEM\)/,
  },
  {
    name: 'a key in another folder',
    async spoil(folder) {
      await mkdir(join(folder, 'keys'))
      await writeFile(join(folder, 'keys', 'tls.key'), '')
      return { GRPC_SERVER_TLS_KEY: join(folder, 'keys', 'tls.key') }
    },
    message: /certFile and keyFile must be in the same directory: GRPC_SERVER_TLS_CERT is in /,
  },
]

for (const { name, spoil, message } of faults) {
  test(`the service does not start with ${name}, and logs why`, async (t) => {
    const folder = await makeTlsFolder(t)
    const env = { ...toEnvironment(folder), ...(await spoil(folder)) }
    await assert.rejects(openService(t, { rules, env }), { message })
  })
}

test('the reason is the only fatal line, without a stack trace', async (t) => {
  const folder = await makeTlsFolder(t)
  const env = { ...toEnvironment(folder), ...(await writeKey(folder, '')) }
  const service = await launchService(t, { rules, env })
  assert.equal(await service.ended, 1)
  const fatal = service.log.split('\n').filter((line) => line.includes('level=fatal'))
  assert.equal(fatal.length, 1)
  assert.match(fatal[0] ?? '', /GRPC_SERVER_TLS_KEY: \S+tls\.key contains no usable private key/)
  assert.doesNotMatch(service.log, / {4}at /)
})
