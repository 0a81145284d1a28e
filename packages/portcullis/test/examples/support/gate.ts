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
import { type ComposeService, composeFolder, readComposeFile } from './compose-file.ts'

const root = join(composeFolder, '../..')
const host = '127.0.0.1'

export interface Gate {
  /** Of Envoy, as everybody comes. */
  readonly url: string
  /** Past Envoy, as other containers come. */
  readonly authUrl: string
}

/**
 * What compose.yaml describes, with processes for containers and ports of this machine for the names of
 * services; undefined where a program is missing.
 */
export async function openGate(
  t: TestContext,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Gate | undefined> {
  const { REDIS_PASSWORD: password = '' } = variables
  const containers: ChildProcess[] = []
  // Before those whom they depend on: what comes first here is done first.
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
      // A test need not wait for load balancers.
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
  await Promise.all(healthUrls.map(waitUntilItAnswers))
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
  const { command = [], environment = {} } = service ?? {}
  const [program = '', ...args] = command
  const env = Object.entries({ ...environment, ...moved }).map(([name, value]) => [
    name,
    `${value}`,
  ])
  const words = args.map((word) => (word === '/rules' ? join(composeFolder, 'rules') : word))
  return spawn(process.execPath, [join(root, program), ...words], {
    env: { ...programEnvironment, ...Object.fromEntries(env) },
    // No .env of this repository: a container has none either.
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
  // The variable is the container's; here it is the test's.
  const variable = '{ environment_variable: JWT_KEY_SET }'
  assert.ok(text.includes(variable))
  const config = parse(text.replace(variable, JSON.stringify({ inline_string: keySet })))
  // The one that starts it gives it another, to ask when it is ready.
  delete config.admin
  const [front] = config.static_resources.listeners
  front.address.socket_address = { address: host, port_value: port }
  // A busy machine must not decide a test.
  front.filter_chains[0].filters[0].typed_config.http_filters[1].typed_config.timeout = '10s'
  for (const { name, load_assignment } of config.static_resources.clusters) {
    load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address = {
      address: host,
      port_value: addresses[name],
    }
  }
  return config
}

async function waitUntilItAnswers(url: string): Promise<void> {
  const deadline = performance.now() + 120_000
  while (performance.now() < deadline) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 500,
    )
    if (status < 500) return
    await sleep(50)
  }
  throw new Error(`${url} does not answer`)
}
