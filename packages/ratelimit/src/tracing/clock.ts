/** How far the steady clock may be off before it is set again. */
const toleranceMs = 2

/**
 * Milliseconds since the epoch with what the system's clock lacks below one: most spans of ours are
 * shorter than that, and a span has to lie within its parent.
 */
export function createClock(): () => number {
  let originMs = Date.now() - performance.now()
  return () => {
    const steadyMs = performance.now()
    const systemMs = Date.now()
    // Somebody may set the system's clock while we run.
    if (Math.abs(originMs + steadyMs - systemMs) > toleranceMs) originMs = systemMs - steadyMs
    return originMs + steadyMs
  }
}
