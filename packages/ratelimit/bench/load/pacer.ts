// A thread that wakes the load generator when a call is due. Timers of the event loop have a resolution
// of a millisecond at best, which is several calls; a busy loop would take a core from the server.

import { parentPort, workerData } from 'node:worker_threads'

export interface PaceJob {
  readonly calls: number
  readonly intervalMs: number
}

const { calls, intervalMs }: PaceJob = workerData
const never = new Int32Array(new SharedArrayBuffer(4))

parentPort?.postMessage(null)
const startMs = performance.now()
for (let call = 1; call <= calls; call++) {
  const dueInMs = startMs + call * intervalMs - performance.now()
  if (dueInMs > 0) Atomics.wait(never, 0, 0, dueInMs)
  parentPort?.postMessage(null)
}
