import { toReason } from '@portcullis/service-kit/text/reason'
import { StoreError } from '../../counter-store.ts'
import type { TcpEndpoint } from '../../network/socket.ts'
import { type SentinelAddress, toEndpointText } from '../address.ts'
import type { LinkSettings } from '../connection/link.ts'
import { Node } from '../connection/node.ts'
import type { Reply } from '../connection/resp-reader.ts'
import { discoveryTimeoutMs, runCommand } from '../connection/run-command.ts'
import { watchSentinel } from './sentinel-watch.ts'
import type { Topology, TopologyContext } from './topology.ts'

/** Follows the master of the sentinels, by their messages and by a query before every attempt to connect. */
export function createSentinel(
  { masterName, sentinels }: SentinelAddress,
  { link, connection, poolSize, sentinelCredentials, log }: TopologyContext,
): Topology {
  const closing = new AbortController()
  const connectTimeoutMs = Math.min(link.connectTimeoutMs, discoveryTimeoutMs)
  // Sentinels have no databases, and their role is not master.
  const links: readonly LinkSettings[] = sentinels.map((endpoint) => {
    const { tls, isBackground } = link
    return { endpoint, credentials: sentinelCredentials, tls, connectTimeoutMs, isBackground }
  })
  let master: TcpEndpoint | undefined
  /** The sentinel that answered last is queried first. */
  let firstTried = 0

  async function findMaster(): Promise<TcpEndpoint> {
    const failures: string[] = []
    for (let i = 0; i < links.length; i++) {
      const at = (firstTried + i) % links.length
      const settings = links[at]
      if (!settings) continue
      try {
        const words = ['SENTINEL', 'get-master-addr-by-name', masterName]
        const found = parseMaster(await runCommand(settings, words, closing.signal))
        firstTried = at
        if (found) return found
        failures.push(
          `${toEndpointText(settings.endpoint)} does not know the master "${masterName}"`,
        )
      } catch (error) {
        failures.push(toReason(error))
      }
    }
    throw new StoreError(`no sentinel names a master: ${failures.join('; ')}`)
  }

  async function locate(): Promise<LinkSettings> {
    master = await findMaster()
    return { ...link, endpoint: master, mustBeMaster: true }
  }

  const node = new Node({ ...connection, name: `Redis master ${masterName}`, locate }, poolSize)

  function follow(next: TcpEndpoint): void {
    if (next.host === master?.host && next.port === master.port) return
    log.info(`The sentinels switched the master ${masterName} to ${toEndpointText(next)}`)
    node.relocate(`is no longer the master ${masterName}`)
  }

  return {
    async discover() {
      await runCommand(await locate(), ['PING'], closing.signal)
    },
    start() {
      node.start()
      const onAvailable = async () => follow(await findMaster())
      void watchSentinel({
        links,
        masterName,
        onSwitch: follow,
        onAvailable,
        signal: closing.signal,
      })
    },
    connectionFor: () => node.connection,
    hasInOnePlace: () => true,
    redirect: () => undefined,
    close(reason) {
      closing.abort()
      node.close(reason)
    },
  }
}

function parseMaster(reply: Reply): TcpEndpoint | undefined {
  if (!Array.isArray(reply)) return undefined
  const [host, port] = reply
  return typeof host === 'string' ? { host, port: Number(port) } : undefined
}
