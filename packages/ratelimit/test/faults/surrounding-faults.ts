import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { openGrpcClient } from '@portcullis/grpc-unary/client'
import { findFreePort, listProcesses, open } from '@portcullis/test-servers'
import { openAdsServer, toRules } from '../rules/sources/xds/support/ads-server.ts'
import { type RunningService, testEnvironment, until } from '../support/service-process.ts'
import { makeRules } from '../support/service-rules.ts'
import type { Fault } from './fault.ts'

const memory = { BACKEND_TYPE: 'memory' }

/** Faults of everything except the counters, which must not affect decisions. */
export const surroundingFaults: readonly Fault[] = [
  {
    name: 'statsd unavailable (TCP)',
    expected: 'all answered',
    async open(t) {
      const statsd = await openSilentServer(t)
      const env = {
        ...memory,
        DISABLE_STATS: 'false',
        USE_STATSD: 'true',
        STATSD_HOST: '127.0.0.1',
        STATSD_PORT: `${statsd.port}`,
        STATS_FLUSH_INTERVAL: '100ms',
      }
      return { env, break: statsd.close, heal: statsd.listen }
    },
  },
  {
    name: 'trace collector unavailable, every call traced',
    expected: 'all answered',
    async open(t) {
      const collector = await openSilentServer(t)
      const env = {
        ...memory,
        TRACING_ENABLED: 'true',
        TRACING_SAMPLING_RATE: '1',
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
        OTEL_BSP_SCHEDULE_DELAY: '200',
      }
      return { env, break: collector.close, heal: collector.listen }
    },
  },
  {
    name: 'xDS server flapping',
    expected: 'all answered',
    async open(t) {
      const start = (port = 0) =>
        openAdsServer(t, {
          port,
          onStream: (stream) =>
            stream.send({ version: '1', nonce: 'a', resources: [toRules(4_294_967_295)] }),
        })
      let server = await start()
      const env = {
        ...memory,
        CONFIG_TYPE: 'GRPC_XDS_SOTW',
        CONFIG_GRPC_XDS_SERVER_URL: server.url,
        CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL: '100ms',
        XDS_CLIENT_BACKOFF_INITIAL_INTERVAL: '50ms',
        XDS_CLIENT_BACKOFF_MAX_INTERVAL: '200ms',
      }
      const restart = async () => {
        server.close()
        await wait(200)
        server = await start(server.port)
      }
      return {
        env,
        async break() {
          for (let round = 0; round < 3; round += 1) {
            await restart()
            await server.stream(1)
          }
          server.close()
        },
        heal: restart,
      }
    },
  },
  {
    name: 'rule folder deleted',
    expected: 'all answered',
    async open() {
      const away = ({ rules: { path } }: RunningService) => `${path}-away`
      return {
        env: memory,
        break: (service) => rename(service.rules.path, away(service)),
        heal: (service) => rename(away(service), service.rules.path),
      }
    },
  },
  {
    name: 'disk full for logs',
    expected: 'all answered',
    open: async () => ({
      env: memory,
      start: startWithFullLog,
      // Every invalid request causes a line at this level.
      async break({ httpUrl }) {
        for (let i = 0; i < 200; i += 1) await fetch(`${httpUrl}/json`, { method: 'POST' })
      },
      heal: async () => {},
    }),
  },
  ...[
    { store: 'memory', open: async () => memory },
    {
      store: 'Redis',
      open: async (t: TestContext) => {
        const redis = await open(t, 'redis')
        return redis && { KVSTORE_URL: `127.0.0.1:${redis.port}` }
      },
    },
  ].map(
    ({ store, open: openStore }): Fault => ({
      name: `clock set back by an hour (${store})`,
      expected: 'all answered',
      async open(t) {
        const env = await openStore(t)
        const clock = pathToFileURL(join(import.meta.dirname, 'shifted-clock.ts')).href
        const toggle = async (service: RunningService) => service.signal('SIGUSR2')
        return (
          env && { env: { ...env, NODE_OPTIONS: `--import=${clock}` }, break: toggle, heal: toggle }
        )
      },
    }),
  ),
  {
    name: 'one of two workers killed',
    expected: 'some fail',
    async open(t) {
      const redis = await open(t, 'redis')
      if (!redis) return undefined
      return {
        env: { KVSTORE_URL: `127.0.0.1:${redis.port}`, WORKERS: '2' },
        async break(service) {
          const [victim] = childrenOf(service.pid)
          if (victim === undefined) throw new Error('the service has no workers')
          process.kill(victim, 'SIGKILL')
        },
        heal: async () => {},
      }
    },
  },
]

function childrenOf(pid: number): number[] {
  return listProcesses().flatMap((one) => (one.parent === pid ? [one.pid] : []))
}

/** A server that reads everything and answers nothing, which can be stopped and restarted. */
async function openSilentServer(t: TestContext) {
  const sockets = new Set<Socket>()
  let server: Server | undefined
  let port = 0
  const listen = async () => {
    server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
      socket.resume()
    }).listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address !== null && typeof address === 'object') port = address.port
  }
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    if (server?.listening) await new Promise((resolve) => server?.close(resolve))
  }
  await listen()
  t.after(close)
  return { port, listen, close }
}

/** Its standard error is a full device, so its log cannot be read. */
async function startWithFullLog(t: TestContext): Promise<RunningService> {
  const rules = await makeRules(
    t,
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 4294967295 } }]',
  )
  const [grpc, http] = [await findFreePort(), await findFreePort()]
  const program = join(import.meta.dirname, '..', '..', 'src', 'main.ts')
  const child = spawn(process.execPath, [program, 'serve', '--rules', rules.path], {
    env: {
      PATH: process.env['PATH'] ?? '',
      ...testEnvironment,
      ...memory,
      GRPC_PORT: `${grpc}`,
      PORT: `${http}`,
      LOG_LEVEL: 'debug',
    },
    stdio: ['ignore', 'ignore', openSync('/dev/full', 'w')],
  })
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const grpcAddress = `127.0.0.1:${grpc}`
  await until(
    async () => {
      const client = await openGrpcClient({ address: grpcAddress }).catch(() => undefined)
      await client?.close()
      return client !== undefined || child.exitCode !== null
    },
    () => 'the service listens',
  )
  return {
    pid: child.pid ?? 0,
    rules,
    log: '',
    ended,
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null
    },
    signal: (name) => child.kill(name),
    grpcAddress,
    httpUrl: `http://127.0.0.1:${http}`,
    debugUrl: '',
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}
