/** The properties by which a worker is chosen for a connection. */
export interface Candidate {
  /** The connections of one listener, or of all listeners for clients. */
  countConnections(listener?: string): number
  /** When it got its last connection, as an increasing number. */
  readonly lastTurn: number
}

/**
 * Chooses the worker with the fewest connections of this listener, then the fewest in total, then
 * the longest time since its last connection. Callers such as gateways open one or two connections
 * and keep them for days, so any other strategy would leave workers idle.
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
