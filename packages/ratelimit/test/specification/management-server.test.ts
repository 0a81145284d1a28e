import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ServerCredentials } from '@grpc/grpc-js'
import { createAuthority, findFreePort } from '@portcullis/test-servers'
import { parseConfig } from '../../src/config/config.ts'
import { openAdsServer, toRules } from '../rules/sources/xds/support/ads-server.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { letEventsPass, makeDirectory } from '../support/file-source.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { launchService, until, untilListening } from '../support/service-process.ts'

const xds = { CONFIG_TYPE: 'GRPC_XDS_SOTW' }
const request = requestFor('d', descriptor('k=v'))
const firstResponse = { version: '1', nonce: 'a', resources: [toRules(7)] }

test('a service with FORCE_START_WITHOUT_INITIAL_CONFIG=false opens no port before its first configuration', async (t) => {
  const ads = await openAdsServer(t)
  const env = {
    ...xds,
    CONFIG_GRPC_XDS_SERVER_URL: ads.url,
    FORCE_START_WITHOUT_INITIAL_CONFIG: 'false',
  }
  let isOpen = false
  const opening = openService(t, { env }).then((service) => {
    isOpen = true
    return service
  })
  const stream = await ads.stream(1)
  await stream.request(1)
  await letEventsPass()
  assert.equal(isOpen, false)
  stream.send(firstResponse)
  const client = await openDecisionClient(t, await opening)
  assert.equal((await client.decide(request)).statuses[0]?.currentLimit?.requestsPerUnit, 7)
})

test('a service with FORCE_START_WITHOUT_INITIAL_CONFIG=true starts, and loads the configuration when it arrives', async (t) => {
  const ads = await openAdsServer(t)
  const env = {
    ...xds,
    CONFIG_GRPC_XDS_SERVER_URL: ads.url,
    FORCE_START_WITHOUT_INITIAL_CONFIG: 'true',
  }
  const client = await openDecisionClient(t, await openService(t, { env }))
  assert.notEqual((await client.tryDecide(request)).code, 0)
  const stream = await ads.stream(1)
  stream.send(firstResponse)
  await until(
    async () => (await client.tryDecide(request)).code === 0,
    () => 'the configuration was in force',
  )
})

test('the variables of the management server reach the connection: node, headers, TLS, certificate and SAN', async (t) => {
  const servers = createAuthority('servers')
  const clients = createAuthority('clients')
  const identity = servers.issue('xds.example')
  const own = clients.issue('ratelimit')
  const folder = await makeDirectory(t)
  const files = { 'ca.pem': servers.certificate, 'own.pem': own.certificate, 'own.key': own.key }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const pair = {
    cert_chain: Buffer.from(identity.certificate),
    private_key: Buffer.from(identity.key),
  }
  const ads = await openAdsServer(t, {
    credentials: ServerCredentials.createSsl(Buffer.from(clients.certificate), [pair], true),
    onStream: (stream) => stream.send(firstResponse),
  })
  const env = {
    ...xds,
    CONFIG_GRPC_XDS_SERVER_URL: ads.url,
    CONFIG_GRPC_XDS_NODE_ID: 'edge-7',
    CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: '<authorization:Bearer a:b>,<x-team:edge>',
    CONFIG_GRPC_XDS_SERVER_USE_TLS: 'true',
    CONFIG_GRPC_XDS_SERVER_TLS_CACERT: join(folder, 'ca.pem'),
    CONFIG_GRPC_XDS_CLIENT_TLS_CERT: join(folder, 'own.pem'),
    CONFIG_GRPC_XDS_CLIENT_TLS_KEY: join(folder, 'own.key'),
    CONFIG_GRPC_XDS_SERVER_TLS_SAN: 'xds.example',
  }
  const client = await openDecisionClient(t, await openService(t, { env }))
  assert.equal((await client.decide(request)).statuses[0]?.currentLimit?.requestsPerUnit, 7)
  const stream = await ads.stream(1)
  assert.equal((await stream.request(1)).node?.id, 'edge-7')
  assert.deepEqual(stream.metadata.get('authorization'), ['Bearer a:b'])
  assert.deepEqual(stream.metadata.get('x-team'), ['edge'])
})

test('a management server that cannot be reached is tried again after CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL', async (t) => {
  const port = await findFreePort()
  const service = await launchService(t, {
    env: {
      ...xds,
      CONFIG_GRPC_XDS_SERVER_URL: `127.0.0.1:${port}`,
      CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL: '20ms',
      LOG_LEVEL: 'debug',
    },
  })
  await until(
    () => service.log.split('ECONNREFUSED').length > 3,
    () => `it tried again; its log:\n${service.log}`,
  )
  await openAdsServer(t, { port, onStream: (stream) => stream.send(firstResponse) })
  const client = await openDecisionClient(t, await untilListening(service))
  assert.equal((await client.decide(request)).overallCode, 1)
})

test('the intervals of the management server are read from their variables', () => {
  const { config, faults } = parseConfig({
    ...xds,
    CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL: '7s',
    XDS_CLIENT_BACKOFF_INITIAL_INTERVAL: '2s',
    XDS_CLIENT_BACKOFF_MAX_INTERVAL: '1m',
    XDS_CLIENT_BACKOFF_RANDOM_FACTOR: '0.25',
    XDS_CLIENT_BACKOFF_JITTER: 'true',
  })
  assert.deepEqual(faults, [])
  const { source } = config.rules
  assert.ok(source.kind === 'xds')
  assert.equal(source.connectRetryMs, 7_000)
  assert.deepEqual(source.backoff, { initialMs: 2_000, maxMs: 60_000, randomFactor: 0.25 })
  const { source: usual } = parseConfig({ ...xds, XDS_CLIENT_BACKOFF_JITTER: 'true' }).config.rules
  assert.ok(usual.kind === 'xds')
  assert.deepEqual(usual.backoff, { initialMs: 10_000, maxMs: 60_000, randomFactor: 0.5 })
})
