import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort, open, programEnvironment } from '@portcullis/test-servers'
import { parse } from 'yaml'
import { type ComposeService, composeFolder, readComposeFile, readProgram } from './compose-file.ts'

const root = join(composeFolder, '../..')
const host = '127.0.0.1'

export interface Gate {
  /** The URL of Envoy, for clients from outside. */
  readonly url: string
  /** The URL of the auth server on the internal network, without Envoy. */
  readonly authUrl: string
}

/**
 * Starts the services of compose.yaml as processes, with ports of this machine in place of service names.
 * Undefined if a program is missing.
 */
export async function openGate(
  t: TestContext,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Gate | undefined> {
  const { REDIS_PASSWORD: password = '' } = variables
  const containers: ChildProcess[] = []
  // Registered first, so that the services stop before the databases they depend on.
  t.after(() => Promise.all(containers.map(stopContainer)))
  const postgres = await open(t, 'postgres')
  const redis = await open(t, 'redis', { password })
  if (!postgres || !redis) return undefined
  const [auth, http, grpc, debug, api] = await Promise.all(Array.from({ length: 5 }, findFreePort))
  const { services } = readComposeFile(variables)
  const moved: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    auth: { AUTH_API_PORT: auth, AUTH_DB_DATABASE_URL: postgres.url, AUTH_LOG_LEVEL: 'error' },
    ratelimit: {
      PORT: http,
      GRPC_PORT: grpc,
      DEBUG_PORT: debug,
      KVSTORE_URL: `${host}:${redis.port}`,
      // No load balancer has to notice the shutdown.
      DRAIN_DELAY: '0s',
      LOG_LEVEL: 'error',
    },
    api: {
      PORT: api,
      AUTH_URL: `http://${host}:${auth}`,
      RATELIMIT_URL: `http://${host}:${http}`,
    },
  }
  for (const [name, env] of Object.entries(moved)) {
    containers.push(startContainer(services[name], env))
  }
  const healthUrls = [
    `http://${host}:${auth}/health`,
    `http://${host}:${http}/healthcheck`,
    `http://${host}:${api}/`,
  ]
  await Promise.all(healthUrls.map(waitUntilReady))
  const addresses = { auth, api, ratelimit: grpc }
  const keySet = variables['JWT_KEY_SET'] ?? ''
  const envoy = await open(t, 'envoy', {
    config: (port) => JSON.stringify(toConfig({ port, addresses, keySet })),
  })
  return envoy && { url: envoy.url, authUrl: `http://${host}:${auth}` }
}

function startContainer(
  service: ComposeService | undefined,
  moved: Readonly<Record<string, unknown>>,
): ChildProcess {
  assert.ok(service)
  const { command = [], environment = {} } = service
  const { program, args } = readProgram(service)
  const env = Object.entries({ ...environment, ...moved }).map(([name, value]) => [
    name,
    `${value}`,
  ])
  const words = [...args, ...command].map((word) =>
    word === '/rules' ? join(composeFolder, 'rules') : word,
  )
  return spawn(process.execPath, [join(root, program), ...words], {
    env: { ...programEnvironment, ...Object.fromEntries(env) },
    // Not the .env file of this repository: a container has none either.
    cwd: tmpdir(),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function stopContainer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

interface Places {
  readonly port: number
  readonly addresses: Readonly<Record<string, number | undefined>>
  readonly keySet: string
}

function toConfig({ port, addresses, keySet }: Places): object {
  const text = readFileSync(join(composeFolder, 'envoy.yaml'), 'utf8')
  // In the container this is an environment variable; here the value is inserted.
  const variable = '{ environment_variable: JWT_KEY_SET }'
  assert.ok(text.includes(variable))
  const config = parse(text.replace(variable, JSON.stringify({ inline_string: keySet })))
  // The test helper adds its own admin port, to check when Envoy is ready.
  delete config.admin
  const [front] = config.static_resources.listeners
  front.address.socket_address = { address: host, port_value: port }
  // A slow machine must not make the test fail.
  front.filter_chains[0].filters[0].typed_config.http_filters[1].typed_config.timeout = '10s'
  for (const { name, load_assignment } of config.static_resources.clusters) {
    load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address = {
      address: host,
      port_value: addresses[name],
    }
  }
  return config
}

async function waitUntilReady(url: string): Promise<void> {
  const deadline = performance.now() + 120_000
  while (performance.now() < deadline) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 500,
    )
    if (status < 500) return
    await sleep(50)
  }
  throw new Error(`${url} does not respond`)
}
