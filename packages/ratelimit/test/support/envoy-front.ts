import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type EnvoyServer, open } from '@portcullis/test-servers'
import { parse } from 'yaml'
import { makeFolder } from './tls-listener.ts'

const example = join(import.meta.dirname, '../../../../examples/envoy')

export const exampleRules = readFileSync(join(example, 'rules/web.yaml'), 'utf8')
const exampleConfig = parse(readFileSync(join(example, 'envoy.yaml'), 'utf8'))

/** The parts of the example configuration that tests change. */
export interface FrontParts {
  readonly config: { static_resources: { listeners: unknown[] } }
  readonly virtualHost: { rate_limits: unknown[]; routes: unknown[] }
  readonly httpFilters: unknown[]
  /** Settings of the rate limit filter. */
  readonly filter: Record<string, unknown>
  /** The cluster of the rate limit service. */
  readonly cluster: Record<string, unknown>
}

export interface FrontOptions {
  readonly grpcAddresses: readonly string[]
  /** `failure_mode_deny`, which is false in the example. */
  readonly failureModeDeny?: boolean
  readonly change?: (parts: FrontParts) => void
}

/** Starts Envoy with examples/envoy on free ports; undefined if Envoy is not available. */
export async function openFront(
  t: TestContext,
  options: FrontOptions,
): Promise<EnvoyServer | undefined> {
  const webPath = join(await makeFolder(t), 'web')
  return await open(t, 'envoy', {
    config: (port) => JSON.stringify(toConfig(port, webPath, options)),
  })
}

function toConfig(
  port: number,
  webPath: string,
  { grpcAddresses, failureModeDeny, change }: FrontOptions,
): object {
  const config = structuredClone(exampleConfig)
  const { listeners, clusters } = config.static_resources
  const [front, web] = listeners
  front.address.socket_address.port_value = port
  // The server behind Envoy needs no port.
  const pipe = { pipe: { path: webPath } }
  web.address = pipe
  const [webCluster, cluster] = clusters
  webCluster.load_assignment.endpoints[0].lb_endpoints[0].endpoint.address = pipe
  Object.assign(cluster.health_checks[0], { interval: '0.1s', no_traffic_interval: '0.1s' })
  // Long, so that tests do not fail on a busy machine.
  cluster.connect_timeout = '120s'
  cluster.health_checks[0].timeout = '120s'
  cluster.load_assignment.endpoints[0].lb_endpoints = grpcAddresses.map((text) => {
    const [address, port_value] = text.split(':')
    return {
      endpoint: { address: { socket_address: { address, port_value: Number(port_value) } } },
    }
  })
  const manager = front.filter_chains[0].filters[0].typed_config
  const filter = manager.http_filters[0].typed_config
  filter.timeout = '120s'
  if (failureModeDeny !== undefined) filter.failure_mode_deny = failureModeDeny
  const [virtualHost] = manager.route_config.virtual_hosts
  change?.({ config, virtualHost, httpFilters: manager.http_filters, filter, cluster })
  return config
}

/** The status codes of consecutive requests. */
export async function readStatuses(
  { url }: EnvoyServer,
  path: string,
  { count, headers = {} }: { readonly count: number; readonly headers?: Record<string, string> },
): Promise<number[]> {
  const statuses: number[] = []
  for (let request = 0; request < count; request += 1) {
    const response = await fetch(`${url}${path}`, { headers })
    await response.arrayBuffer()
    statuses.push(response.status)
  }
  return statuses
}

export interface Traffic {
  /** The number of responses by status. */
  readonly statuses: Map<number | string, number>
  readonly count: () => number
  stop(): Promise<void>
}

/** Clients that make requests continuously until they are stopped. */
export function openTraffic({ url }: EnvoyServer, path: string, callerCount = 4): Traffic {
  const statuses = new Map<number | string, number>()
  let isOver = false
  let count = 0
  const callers = Array.from({ length: callerCount }, async () => {
    while (!isOver) {
      const status = await fetch(`${url}${path}`).then(
        async (response) => {
          await response.arrayBuffer()
          return response.status
        },
        (error: unknown) => String(error),
      )
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      count += 1
      await wait(5)
    }
  })
  return {
    statuses,
    count: () => count,
    async stop() {
      isOver = true
      await Promise.all(callers)
    },
  }
}
