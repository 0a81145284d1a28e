import { crc32 } from 'node:zlib'
import type { Endpoint } from '../network/socket.ts'
import { Node, type NodeSettings } from './node.ts'

type NodeListSettings = Omit<NodeSettings, 'name' | 'endpoint'>

/**
 * The nodes. As in envoyproxy/ratelimit, the CRC-32 of a counter's name modulo the number of nodes selects
 * its node. Every process must have the same list in the same order.
 */
export class NodeList {
  readonly #settings: NodeListSettings
  #nodes: readonly Node[] = []
  #addresses: readonly string[] = []
  /** Nodes that are no longer listed but have not finished yet. */
  readonly #leaving = new Set<Promise<void>>()

  constructor(settings: NodeListSettings) {
    this.#settings = settings
  }

  get length(): number {
    return this.#nodes.length
  }

  get addresses(): readonly string[] {
    return this.#addresses
  }

  /** Nodes that could not be reached so far. */
  get unreached(): string[] {
    return this.#addresses.filter((_, i) => this.#nodes[i]?.isOpen === false)
  }

  /** Returns `undefined` while there are no nodes. */
  nodeOf(name: string): Node | undefined {
    const nodes = this.#nodes
    return nodes.length === 1 ? nodes[0] : nodes[crc32(name) % nodes.length]
  }

  /**
   * Replaces the list. Nodes that stay in it keep their connections.
   * @throws Error when one of the addresses is invalid. The list stays unchanged.
   */
  replace(addresses: readonly string[]): void {
    const endpoints = addresses.map(parseEndpoint)
    const old = new Map(this.#addresses.map((address, i) => [address, this.#nodes[i]]))
    this.#nodes = endpoints.map((endpoint, i) => {
      const address = addresses[i] ?? ''
      const staying = old.get(address)
      old.delete(address)
      return staying ?? new Node({ ...this.#settings, name: `memcached at ${address}`, endpoint })
    })
    this.#addresses = addresses
    for (const node of old.values()) {
      const left = node?.finish(finishMs(this.#settings), 'memcached: the node is no longer listed')
      if (left === undefined) continue
      this.#leaving.add(left)
      void left.then(() => this.#leaving.delete(left))
    }
  }

  /** Waits for the first attempt to connect to each node. */
  async tryAll(): Promise<void> {
    await Promise.all(this.#nodes.map(({ firstAttempt }) => firstAttempt))
  }

  /** Waits for outstanding replies, for a limited time, and closes. */
  async finish(reason: string): Promise<void> {
    const within = finishMs(this.#settings)
    await Promise.all([...this.#nodes.map((node) => node.finish(within, reason)), ...this.#leaving])
  }
}

/** A count takes a read and up to three writes, one after the other. */
function finishMs({ timeoutMs }: NodeListSettings): number {
  return 4 * timeoutMs
}

/** @throws Error with a message for the operator */
function parseEndpoint(text: string): Endpoint {
  if (text.startsWith('/')) return { path: text }
  const found = /^(?:\[(?<literal>[^\]]+)\]|(?<name>[^[\]/@\s]+)):(?<port>\d+)$/.exec(text)
  const host = found?.groups?.['literal'] ?? found?.groups?.['name']
  const port = Number(found?.groups?.['port'])
  if (host === undefined || port < 1 || port > 65_535) {
    throw new Error(
      `${text || 'An empty string'} is not the address of a memcached node: use host:port`,
    )
  }
  return { host, port }
}
