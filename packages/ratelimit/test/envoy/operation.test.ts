/**
 * @servers envoy
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAuthority } from '@portcullis/test-servers'
import { exampleRules, openFront, openTraffic, readStatuses } from '../support/envoy-front.ts'
import { openService } from '../support/service-app.ts'
import { startService, until } from '../support/service-process.ts'
import { makeFolder, readShownName, writePair } from '../support/tls-listener.ts'

const generous = exampleRules.replaceAll(/requests_per_unit: \d+/g, 'requests_per_unit: 4000000000')

test('without the service requests are allowed, or get 500 if Envoy is configured to deny', async (t) => {
  const service = await startService(t, { rules: exampleRules })
  const grpcAddresses = [service.grpcAddress]
  const lenient = await openFront(t, { grpcAddresses, failureModeDeny: false })
  const strict = await openFront(t, { grpcAddresses, failureModeDeny: true })
  if (!lenient || !strict) return
  assert.deepEqual(await readStatuses(lenient, '/', { count: 2 }), [200, 200])
  assert.deepEqual(await readStatuses(strict, '/', { count: 2 }), [200, 200])
  service.signal('SIGKILL')
  await service.ended
  assert.deepEqual(await readStatuses(lenient, '/', { count: 10 }), Array(10).fill(200))
  assert.deepEqual(await readStatuses(strict, '/', { count: 10 }), Array(10).fill(500))
})

test('rules that change under traffic affect no running request, and apply immediately', async (t) => {
  const service = await openService(t, { rules: generous })
  const envoy = await openFront(t, { grpcAddresses: [service.grpcAddress], failureModeDeny: true })
  if (!envoy) return
  const traffic = openTraffic(envoy, '/')
  t.after(() => traffic.stop())
  for (let load = 1; load <= 5; load += 1) {
    const before = traffic.count()
    await service.rules.replace(`${generous}# ${load}\n`)
    await until(
      () => traffic.count() > before + 50,
      () => 'there is traffic',
    )
  }
  assert.deepEqual([...traffic.statuses.keys()], [200])
  await service.rules.replace(generous.replaceAll('4000000000', '0'))
  await until(
    () => traffic.statuses.has(429),
    () => 'requests are refused',
  )
  await traffic.stop()
  assert.deepEqual([...traffic.statuses.keys()], [200, 429])
})

test('no request fails when an instance stops under traffic', async (t) => {
  const leaving = await startService(t, { rules: generous, env: { DRAIN_DELAY: '1s' } })
  const staying = await openService(t, { rules: generous })
  const envoy = await openFront(t, {
    grpcAddresses: [leaving.grpcAddress, staying.grpcAddress],
    failureModeDeny: true,
  })
  if (!envoy) return
  const traffic = openTraffic(envoy, '/')
  t.after(() => traffic.stop())
  const untilMore = async () => {
    const before = traffic.count()
    await until(
      () => traffic.count() > before + 100,
      () => 'there is traffic',
    )
  }
  await untilMore()
  assert.equal(await leaving.stop(), 0)
  await untilMore()
  await traffic.stop()
  assert.deepEqual([...traffic.statuses.keys()], [200])
})

test('Envoy is accepted with its certificate, even while the certificate of the service changes', async (t) => {
  const authority = createAuthority('mesh')
  const folder = await makeFolder(t)
  const month = { expiresInMs: 30 * 86_400_000 }
  await writePair(folder, authority.issue('first', month))
  const caPath = join(folder, 'ca.crt')
  await writeFile(caPath, authority.certificate)
  const service = await openService(t, {
    rules: generous,
    env: {
      GRPC_SERVER_USE_TLS: 'true',
      GRPC_SERVER_TLS_CERT: join(folder, 'tls.crt'),
      GRPC_SERVER_TLS_KEY: join(folder, 'tls.key'),
      GRPC_CLIENT_TLS_CACERT: caPath,
      GRPC_CLIENT_TLS_SAN: 'spiffe://mesh/envoy',
      // Makes Envoy reconnect all the time.
      GRPC_MAX_CONNECTION_AGE: '300ms',
    },
  })
  const openAs = (name: string) => {
    const { certificate, key } = authority.issue(name, { usage: 'client' })
    return openFront(t, {
      grpcAddresses: [service.grpcAddress],
      failureModeDeny: true,
      change({ cluster }) {
        cluster['transport_socket'] = {
          name: 'envoy.transport_sockets.tls',
          typed_config: {
            '@type':
              'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
            common_tls_context: {
              tls_certificates: [
                {
                  certificate_chain: { inline_string: certificate },
                  private_key: { inline_string: key },
                },
              ],
              validation_context: { trusted_ca: { inline_string: authority.certificate } },
            },
          },
        }
      },
    })
  }
  const envoy = await openAs('spiffe://mesh/envoy')
  if (!envoy) return
  const traffic = openTraffic(envoy, '/')
  t.after(() => traffic.stop())
  const port = Number(service.grpcAddress.split(':').at(-1))
  for (const name of ['second', 'third', 'fourth']) {
    await writePair(folder, authority.issue(name, month))
    await until(
      async () => (await readShownName(port)) === name,
      () => `the server presents ${name}`,
    )
    const before = traffic.count()
    await until(
      () => traffic.count() > before + 50,
      () => 'there is traffic',
    )
  }
  await traffic.stop()
  assert.deepEqual([...traffic.statuses.keys()], [200])

  const untrusted = await openAs('spiffe://mesh/other')
  assert.ok(untrusted)
  assert.deepEqual(await readStatuses(untrusted, '/', { count: 2 }), [500, 500])
  // Only some of many refusals in a second are logged, and those of this test come first.
  await until(
    async () => {
      await readStatuses(untrusted, '/', { count: 1 })
      return service.log.some((line) =>
        line.includes('error validating client: its certificate is for URI:spiffe://mesh/o'),
      )
    },
    () => 'the refusal is in the log',
  )
})
