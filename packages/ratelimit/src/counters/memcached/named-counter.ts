import type { Increment } from '../counter-store.ts'
import { toCounterName } from './counter-name.ts'
import type { Node } from './node.ts'
import type { NodeList } from './node-list.ts'

/** A counter of a call; several increments of the call may share it. */
export class NamedCounter {
  readonly name: string
  /** The node that has the counter. */
  readonly node: Node
  /** The count that was read; 0 when the counter does not exist or could not be read. */
  count = 0
  /** Whether the node reported that the counter does not exist. */
  isMissing = false

  constructor(name: string, node: Node) {
    this.name = name
    this.node = node
  }
}

/** An increment and the counters that have its hits. */
export interface Target {
  readonly increment: Increment
  readonly counter: NamedCounter
  /** The previous window, if it still counts. */
  readonly previous: NamedCounter | undefined
}

/**
 * Returns the counters of each increment; increments with the same name share an object. Returns
 * `undefined` when one of the names is not allowed.
 */
export function toTargets(
  increments: readonly Increment[],
  nodes: NodeList,
  hashesLongNames: boolean,
): Target[] | undefined {
  const byName = new Map<string, NamedCounter>()
  const find = (increment: Increment, window: number) => {
    const name = toCounterName(increment, window, hashesLongNames)
    const node = name === undefined ? undefined : nodes.nodeOf(name)
    if (name === undefined || node === undefined) return undefined
    const counter = byName.get(name) ?? new NamedCounter(name, node)
    byName.set(name, counter)
    return counter
  }
  const targets: Target[] = []
  for (const increment of increments) {
    const { window, unitSeconds, overlapMs } = increment
    const isSliding = overlapMs > 0
    const counter = find(increment, window)
    const previous = isSliding ? find(increment, window - unitSeconds) : undefined
    if (counter === undefined || (isSliding && previous === undefined)) return undefined
    targets.push({ increment, counter, previous })
  }
  return targets
}

/** Lists each counter once. */
export function groupByNode(targets: readonly Target[]): (readonly NamedCounter[])[] {
  const [first] = targets
  if (first !== undefined && targets.length === 1 && first.previous === undefined) {
    return [[first.counter]]
  }
  const counters = new Set<NamedCounter>()
  for (const { counter, previous } of targets) {
    counters.add(counter)
    if (previous !== undefined) counters.add(previous)
  }
  const groups = new Map<Node, NamedCounter[]>()
  for (const counter of counters) {
    const group = groups.get(counter.node)
    if (group) group.push(counter)
    else groups.set(counter.node, [counter])
  }
  return [...groups.values()]
}
