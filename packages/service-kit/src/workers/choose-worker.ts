/** What decides about who gets a connection. */
export interface Candidate {
  /** Those of a listener, or of all that serve clients. */
  countConnections(listener?: string): number
  /** When it got its last connection; a number that only grows. */
  readonly lastTurn: number
}

/**
 * The one with the fewest connections of this listener, then the fewest of all, then whoever has
 * waited longest. Callers such as gateways open one or two connections and keep them for days: any
 * other way would leave workers with nothing to do.
 */
export function chooseWorker<Worker extends Candidate>(
  workers: Iterable<Worker>,
  listener: string,
): Worker | undefined {
  let best: Worker | undefined
  for (const worker of workers) {
    if (best === undefined || isBetter(worker, best, listener)) best = worker
  }
  return best
}

function isBetter(a: Candidate, b: Candidate, listener: string): boolean {
  const own = a.countConnections(listener) - b.countConnections(listener)
  if (own !== 0) return own < 0
  const all = a.countConnections() - b.countConnections()
  if (all !== 0) return all < 0
  return a.lastTurn < b.lastTurn
}
