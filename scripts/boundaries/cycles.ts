/** The modules that each module imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

/** The largest groups of modules in which each module reaches every other by imports. */
export function findCycles(graph: ImportGraph): string[][] {
  const cycles: string[][] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const open = new Set<string>()

  // Tarjan's algorithm: a module that reaches no module older than itself completes a group.
  const visit = (module: string): number => {
    const own = order.size
    order.set(module, own)
    stack.push(module)
    open.add(module)
    let low = own
    for (const next of graph.get(module) ?? []) {
      if (!graph.has(next)) continue
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (open.has(next)) low = Math.min(low, lowest.get(next) ?? order.get(next) ?? low)
    }
    lowest.set(module, low)
    if (low < own) return low
    const group = stack.splice(stack.indexOf(module))
    for (const member of group) open.delete(member)
    if (group.length > 1 || graph.get(module)?.includes(module)) cycles.push(group)
    return low
  }
  for (const module of graph.keys()) if (!order.has(module)) visit(module)
  return cycles
}

/** The shortest cycle in a group that starts and ends at its first module by name. */
export function findShortestCycle(graph: ImportGraph, group: readonly string[]): string[] {
  const start = group.toSorted()[0] ?? ''
  const members = new Set(group)
  const paths: string[][] = [[start]]
  const seen = new Set<string>()
  for (const path of paths) {
    for (const next of graph.get(path.at(-1) ?? '') ?? []) {
      if (next === start) return [...path, start]
      if (!members.has(next) || seen.has(next)) continue
      seen.add(next)
      paths.push([...path, next])
    }
  }
  return [...group]
}
