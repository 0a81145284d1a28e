import type { Increment } from '../counter-store.ts'
import { toCounterName } from './counter-name.ts'
import type { Node } from './node.ts'
import type { NodeList } from './node-list.ts'

/** A counter that a call concerns, perhaps with more than one of its increments. */
export class NamedCounter {
  readonly name: string
  /** Where it is. */
  readonly node: Node
  /** What was read; 0 when it is not there or could not be read. */
  count = 0
  /** Whether the node said that it is not there. */
  isMissing = false

  constructor(name: string, node: Node) {
    this.name = name
    this.node = node
  }
}

/**
 * The counter of each increment; the same one for all that have the same name. `undefined` when one
 * of the names is not allowed.
 */
export function toNamedCounters(
  increments: readonly Increment[],
  nodes: NodeList,
): NamedCounter[] | undefined {
  const counters: NamedCounter[] = []
  const byName = increments.length === 1 ? undefined : new Map<string, NamedCounter>()
  for (const increment of increments) {
    const name = toCounterName(increment)
    const node = name === undefined ? undefined : nodes.nodeOf(name)
    if (name === undefined || node === undefined) return undefined
    const counter = byName?.get(name) ?? new NamedCounter(name, node)
    byName?.set(name, counter)
    counters.push(counter)
  }
  return counters
}

/** Each counter once. */
export function groupByNode(counters: readonly NamedCounter[]): (readonly NamedCounter[])[] {
  if (counters.length === 1) return [counters]
  const groups = new Map<Node, NamedCounter[]>()
  for (const counter of new Set(counters)) {
    const group = groups.get(counter.node)
    if (group) group.push(counter)
    else groups.set(counter.node, [counter])
  }
  return [...groups.values()]
}
