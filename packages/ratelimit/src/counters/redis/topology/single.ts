import { type SingleAddress, toEndpointText } from '../address.ts'
import { Node } from '../connection/node.ts'
import { runCommand } from '../connection/run-command.ts'
import { createServerCheck } from '../connection/server-check.ts'
import type { Topology, TopologyContext } from './topology.ts'

/** One server, or a proxy that looks like one. */
export function createSingle(
  { endpoint }: SingleAddress,
  { link, connection, poolSize, log }: TopologyContext,
): Topology {
  const settings = { ...link, endpoint }
  const name = `Redis at ${toEndpointText(endpoint)}`
  const node = new Node({ ...connection, name, locate: async () => settings }, poolSize)
  const closing = new AbortController()
  const isServer = createServerCheck(settings, name, log, closing.signal)
  return {
    async discover() {
      await runCommand(settings, ['PING'], closing.signal)
    },
    start: () => node.start(),
    connectionFor: () => node.connection,
    hasInOnePlace: isServer,
    redirect: () => undefined,
    close(reason) {
      closing.abort()
      node.close(reason)
    },
  }
}
