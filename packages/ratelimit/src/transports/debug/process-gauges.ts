import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { getHeapStatistics } from 'node:v8'

/** The resource usage of the process. The names replace Go's `ratelimit.go.*`. */
export function processGauges(): (readonly [name: string, value: number])[] {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage()
  return [
    ['ratelimit.node.eventloop.utilization', measureUtilization()],
    ['ratelimit.node.memory.array_buffers', arrayBuffers],
    ['ratelimit.node.memory.external', external],
    ['ratelimit.node.memory.heap_limit', getHeapStatistics().heap_size_limit],
    ['ratelimit.node.memory.heap_total', heapTotal],
    ['ratelimit.node.memory.heap_used', heapUsed],
    ['ratelimit.node.memory.rss', rss],
    ['ratelimit.node.uptime_seconds', Math.floor(process.uptime())],
  ]
}

/** `/stats`, a sink and the primary may all read the gauges, so a reading is used for this long. */
const shortestWindowMs = 1_000

const measured = { at: performance.eventLoopUtilization(), atMs: 0, utilization: 0 }

/** The fraction of time in which the event loop was busy since the last measurement. */
function measureUtilization(): number {
  const nowMs = performance.now()
  if (nowMs - measured.atMs >= shortestWindowMs) {
    const now = performance.eventLoopUtilization()
    measured.utilization = performance.eventLoopUtilization(now, measured.at).utilization
    measured.at = now
    measured.atMs = nowMs
  }
  return measured.utilization
}
