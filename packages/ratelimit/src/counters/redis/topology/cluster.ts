import { toReason } from '@portcullis/service-kit/text/reason'
import { type Increment, StoreError } from '../../counter-store.ts'
import type { TcpEndpoint } from '../../network/socket.ts'
import { toSlidingSuffix } from '../../sliding-window.ts'
import { type ClusterAddress, toEndpointText } from '../address.ts'
import type { Connection } from '../connection/connection.ts'
import { Node } from '../connection/node.ts'
import type { ReplyError } from '../connection/resp-reader.ts'
import { discoveryTimeoutMs, runCommand } from '../connection/run-command.ts'
import { parseRedirection, parseSlots, type SlotRange, slotCount, slotOf } from './slots.ts'
import type { Topology, TopologyContext } from './topology.ts'

const refreshMs = 5_000
/** While calls fail, the slots are refreshed more often, but not for every failed call. */
const minRefreshMs = 200

interface Member {
  readonly endpoint: TcpEndpoint
  readonly node: Node
}

/** A Redis Cluster: 16,384 slots, spread over masters that can join, leave and move slots. */
export class Cluster implements Topology {
  readonly #seeds: readonly TcpEndpoint[]
  readonly #context: TopologyContext
  readonly #closing = new AbortController()
  readonly #members = new Map<string, Member>()
  readonly #owners: (Node | undefined)[] = new Array(slotCount).fill(undefined)
  /** The host that answered last: a node that does not know its own host refers to this one. */
  #answeringHost = ''
  #isStarted = false
  #refresher: NodeJS.Timeout | undefined
  #isRefreshing = false
  #isSoon = false
  #refreshedAtMs = Number.NEGATIVE_INFINITY

  constructor({ seeds }: ClusterAddress, context: TopologyContext) {
    this.#seeds = seeds
    this.#context = context
  }

  async discover(): Promise<void> {
    this.#adopt(await this.#readSlots())
  }

  start(): void {
    this.#isStarted = true
    for (const { node } of this.#members.values()) node.start()
    this.#schedule(refreshMs)
  }

  connectionFor(increment: Increment): Connection | undefined {
    return this.#owners[toSlot(increment)]?.connection
  }

  hasInOnePlace([first, ...others]: readonly Increment[]): boolean {
    if (first === undefined) return true
    const slot = toSlot(first)
    return others.every((increment) => toSlot(increment) === slot)
  }

  redirect(error: ReplyError): Connection | undefined {
    const target = parseRedirection(error, this.#answeringHost)
    if (!target) return undefined
    const node = this.#nodeAt(target.endpoint)
    if (error.code === 'MOVED') {
      this.#owners[target.slot] = node
      this.#refreshSoon()
    }
    return node.connection
  }

  close(reason: string): void {
    this.#closing.abort()
    clearTimeout(this.#refresher)
    for (const { node } of this.#members.values()) node.close(reason)
  }

  async #readSlots(): Promise<readonly SlotRange[]> {
    const { link } = this.#context
    const connectTimeoutMs = Math.min(link.connectTimeoutMs, discoveryTimeoutMs)
    const failures: string[] = []
    for (const endpoint of this.#listCandidates()) {
      try {
        const settings = { ...link, endpoint, connectTimeoutMs }
        const reply = await runCommand(settings, ['CLUSTER', 'SLOTS'], this.#closing.signal)
        const ranges = parseSlots(reply, endpoint.host)
        this.#answeringHost = endpoint.host
        if (ranges.length > 0) return ranges
        failures.push(`Redis at ${toEndpointText(endpoint)}: returned no slots`)
      } catch (error) {
        failures.push(toReason(error))
      }
    }
    throw new StoreError(`no node returned the slots of the cluster: ${failures.join('; ')}`)
  }

  /** Connected nodes come first, and the configured addresses come last. */
  #listCandidates(): TcpEndpoint[] {
    const members = [...this.#members.values()]
    const open = members.filter(({ node }) => node.isOpen)
    const silent = members.filter(({ node }) => !node.isOpen)
    const all = [...open, ...silent].map(({ endpoint }) => endpoint).concat(this.#seeds)
    return [...new Map(all.map((endpoint) => [toEndpointText(endpoint), endpoint])).values()]
  }

  #nodeAt(endpoint: TcpEndpoint): Node {
    const id = toEndpointText(endpoint)
    const known = this.#members.get(id)
    if (known) return known.node
    const { link, connection, poolSize } = this.#context
    const settings = { ...link, endpoint }
    const node = new Node(
      {
        ...connection,
        name: `Redis at ${id}`,
        locate: async () => settings,
        onDown: (loss) => {
          connection.onDown(loss)
          this.#refreshSoon()
        },
      },
      poolSize,
    )
    this.#members.set(id, { endpoint, node })
    if (this.#isStarted) node.start()
    return node
  }

  #adopt(ranges: readonly SlotRange[]): void {
    this.#owners.fill(undefined)
    const masters = new Set<Node>()
    for (const { first, last, master } of ranges) {
      const node = this.#nodeAt(master)
      masters.add(node)
      this.#owners.fill(node, first, last + 1)
    }
    for (const [id, { node }] of this.#members) {
      // A node with outstanding replies is checked again the next time.
      if (masters.has(node) || !node.isIdle) continue
      this.#members.delete(id)
      node.close(`Redis at ${id}: no longer has slots of the cluster`)
    }
  }

  async #refresh(): Promise<void> {
    this.#isSoon = false
    this.#isRefreshing = true
    try {
      const ranges = await this.#readSlots()
      if (!this.#closing.signal.aborted) this.#adopt(ranges)
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#context.log.warning(`Redis Cluster: ${toReason(error)}`)
      }
    }
    this.#isRefreshing = false
    this.#refreshedAtMs = performance.now()
    this.#schedule(refreshMs)
  }

  #refreshSoon(): void {
    if (this.#isSoon || this.#isRefreshing || !this.#isStarted) return
    this.#isSoon = true
    this.#schedule(Math.max(0, this.#refreshedAtMs + minRefreshMs - performance.now()))
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#refresher)
    if (this.#closing.signal.aborted) return
    this.#refresher = setTimeout(() => void this.#refresh(), delayMs)
    if (this.#context.connection.isBackground) this.#refresher.unref()
  }
}

function toSlot({ key, window, unitSeconds, overlapMs }: Increment): number {
  return slotOf(key, overlapMs > 0 ? toSlidingSuffix(unitSeconds) : window)
}
