import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort, host } from '../free-port.ts'
import { provideProgram } from '../programs/provide-program.ts'
import { type Address, type OpenServer, openServer } from '../server.ts'
import { type Service, startService } from '../service.ts'

export interface EnvoyOptions {
  /** The bootstrap configuration, as YAML or JSON, of an Envoy that listens on this port. */
  readonly config?: (port: number) => string
}

export interface EnvoyServer extends Address, Service, OpenServer {
  readonly admin: Address
}

/**
 * One Envoy with a single worker thread. Without a configuration it answers every request with
 * "gate".
 */
export async function openEnvoy({ config = toGate }: EnvoyOptions = {}): Promise<EnvoyServer> {
  const program = await provideProgram('envoy')
  return openServer({
    name: 'envoy',
    build: async (sandbox) => {
      const [port, adminPort] = await Promise.all([findFreePort(), findFreePort()])
      const admin = { host, port: adminPort, url: `http://${host}:${adminPort}` }
      const file = join(sandbox.folder, 'envoy.yaml')
      await writeFile(file, config(port))
      // The node id distinguishes this Envoy from others on this machine.
      const nodeId = `portcullis-${process.pid}-${adminPort}`
      const args = [
        ...['-c', file, '--config-yaml', JSON.stringify(toAdmin(adminPort))],
        ...['--service-node', nodeId, '--service-cluster', 'tests'],
        ...['--concurrency', '1', '--disable-hot-restart', '--log-level', 'warning'],
      ]
      const service = await startService({
        start: () => sandbox.start(program, args, { name: 'envoy' }),
        isReady: () => isLive(admin.url, nodeId),
      })
      return { host, port, url: `http://${host}:${port}`, admin, ...service }
    },
  })
}

function toAdmin(port: number) {
  return { admin: { address: toSocketAddress(port) } }
}

function toSocketAddress(port: number) {
  return { socket_address: { address: host, port_value: port } }
}

/** Whether it is live: its listeners are open, and its clusters are known. */
async function isLive(adminUrl: string, nodeId: string): Promise<boolean> {
  const info = await (await fetch(`${adminUrl}/server_info`)).json()
  return info.state === 'LIVE' && info.node.id === nodeId
}

const extensions = 'type.googleapis.com/envoy.extensions.filters'

function toGate(port: number): string {
  const manager = {
    '@type': `${extensions}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'gate',
    route_config: {
      virtual_hosts: [
        {
          name: 'gate',
          domains: ['*'],
          routes: [
            {
              match: { prefix: '/' },
              direct_response: { status: 200, body: { inline_string: 'gate' } },
            },
          ],
        },
      ],
    },
    http_filters: [
      {
        name: 'router',
        typed_config: { '@type': `${extensions}.http.router.v3.Router` },
      },
    ],
  }
  const filters = [{ name: 'http', typed_config: manager }]
  const listener = { address: toSocketAddress(port), filter_chains: [{ filters }] }
  return JSON.stringify({ static_resources: { listeners: [listener] } })
}
