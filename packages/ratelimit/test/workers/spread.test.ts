/**
 * @legs safety
 * @servers redis
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createAuthority } from '@portcullis/test-servers'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { until } from '../support/service-process.ts'
import { readWorkers, startWorkers, untilConnections } from './support/workers.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: year, requests_per_unit: 1000 } }]\n'
const request = requestFor('d', descriptor('k=v'))

async function openClients(t: TestContext, service: { grpcAddress: string }, count: number) {
  const clients = await Promise.all(
    Array.from({ length: count }, () => openDecisionClient(t, service)),
  )
  for (const { decide } of clients) await decide(request)
  return clients
}

test('two connections go to two workers, and so do their replacements', async (t) => {
  const env = { GRPC_MAX_CONNECTIONS_PER_ADDRESS: '3' }
  const service = await startWorkers(t, 2, { rules, env })
  if (!service) return
  const [first, second] = await openClients(t, service, 2)
  assert.ok(first && second)
  await untilConnections(service, 'grpc', [1, 1])
  for (let round = 0; round < 3; round += 1) {
    const [another] = await openClients(t, service, 1)
    assert.ok(another)
    await untilConnections(service, 'grpc', [1, 2])
    // The limit of three connections per address applies across all workers.
    const tooMany = connect(Number(service.grpcAddress.split(':').at(-1)), '127.0.0.1')
    await once(
      tooMany.resume().on('error', () => {}),
      'close',
    )
    await another.close()
    await untilConnections(service, 'grpc', [1, 1])
  }
  await first.close()
  await untilConnections(service, 'grpc', [0, 1])
  await openClients(t, service, 1)
  await untilConnections(service, 'grpc', [1, 1])
})

test('eight connections go to four workers, two each, even if they are opened at once', async (t) => {
  const service = await startWorkers(t, 4, { rules })
  if (!service) return
  const clients = await openClients(t, service, 8)
  await untilConnections(service, 'grpc', [2, 2, 2, 2])
  await Promise.all(clients.slice(0, 5).map(({ close }) => close()))
  const countAll = async () => (await readWorkers(service)).reduce((sum, { grpc }) => sum + grpc, 0)
  await until(
    async () => (await countAll()) === 3,
    () => 'three connections were left',
  )
  await openClients(t, service, 5)
  await untilConnections(service, 'grpc', [2, 2, 2, 2])
})

test('HTTP connections are distributed as well', async (t) => {
  const service = await startWorkers(t, 2, { rules })
  if (!service) return
  const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  t.after(() => {
    for (const agent of agents) agent.destroy()
  })
  for (const agent of agents) {
    const status = await new Promise((resolve, reject) => {
      get(`${service.httpUrl}/healthcheck`, { agent }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode))
      }).once('error', reject)
    })
    assert.equal(status, 200)
  }
  await untilConnections(service, 'http', [2, 2])
  agents[0]?.destroy()
  agents[2]?.destroy()
  await untilConnections(service, 'http', [0, 2])
})

test('bytes that arrive before the connection is handed over are not lost', async (t) => {
  const service = await startWorkers(t, 2, { rules })
  if (!service) return
  const port = Number(new URL(service.httpUrl).port)
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const body = JSON.stringify({
        domain: 'd',
        descriptors: [{ entries: [{ key: 'k', value: 'v' }] }],
      })
      const socket = connect(port, '127.0.0.1')
      socket.write(
        `POST /json HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
      let text = ''
      for await (const chunk of socket.setEncoding('utf8')) text += chunk
      return text
    }),
  )
  for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 200 .*"overallCode":"OK"/s)
})

test('a Unix socket is shared, and removed at shutdown', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'workers-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const GRPC_UDS = join(folder, 'grpc.sock')
  const service = await startWorkers(t, 2, { rules, env: { GRPC_UDS } })
  if (!service) return
  assert.equal(service.grpcAddress, `unix:${GRPC_UDS}`)
  await openClients(t, service, 4)
  await untilConnections(service, 'grpc', [2, 2])
  assert.equal(await service.stop(), 0)
  assert.equal(existsSync(GRPC_UDS), false)
})

test('connections with TLS are distributed and served by the workers', async (t) => {
  const authority = createAuthority('test authority')
  const folder = await mkdtemp(join(tmpdir(), 'workers-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const { certificate, key } = authority.issue('localhost')
  await writeFile(join(folder, 'tls.crt'), certificate)
  await writeFile(join(folder, 'tls.key'), key)
  const service = await startWorkers(t, 2, {
    rules,
    env: {
      GRPC_SERVER_USE_TLS: 'true',
      GRPC_SERVER_TLS_CERT: join(folder, 'tls.crt'),
      GRPC_SERVER_TLS_KEY: join(folder, 'tls.key'),
    },
  })
  if (!service) return
  const port = service.grpcAddress.split(':').at(-1)
  const sessions = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const session = connectHttp2(`https://localhost:${port}`, { ca: authority.certificate })
      session.on('error', () => {})
      t.after(() => session.destroy())
      const stream = session.request({
        ':method': 'POST',
        ':path': '/grpc.health.v1.Health/Check',
        'content-type': 'application/grpc',
        te: 'trailers',
      })
      const trailers = Promise.withResolvers<string>()
      stream.on('trailers', (headers) => trailers.resolve(`${headers['grpc-status']}`))
      stream.end(Buffer.alloc(5)).resume()
      assert.equal(await trailers.promise, '0')
      return session
    }),
  )
  await untilConnections(service, 'grpc', [2, 2])
  for (const session of sessions) session.destroy()
  await untilConnections(service, 'grpc', [0, 0])
  // A connection that never completes its handshake counts as long as it is open.
  const silent = connect(Number(port), '127.0.0.1')
  await untilConnections(service, 'grpc', [0, 1])
  silent.destroy()
  await untilConnections(service, 'grpc', [0, 0])
})
