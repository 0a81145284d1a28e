import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const watchMs = 1_000

/**
 * What stands in for Go's list of goroutines: what keeps the process busy or waiting, and how
 * promptly the event loop turned during one second.
 */
export async function reportEventLoop(cancelled: AbortSignal): Promise<string> {
  const before = performance.eventLoopUtilization()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  try {
    await sleep(watchMs, undefined, { signal: cancelled })
  } finally {
    delay.disable()
  }
  const { utilization } = performance.eventLoopUtilization(before)
  const toMs = (ns: number) => `${(ns / 1e6).toFixed(2)} ms`
  const counts = Map.groupBy(process.getActiveResourcesInfo(), (type) => type)
  const resources = [...counts]
    .map(([type, all]) => `${String(all.length).padStart(7)} ${type}`)
    .sort((a, b) => (a < b ? 1 : -1))
  return [
    'active resources:',
    ...resources,
    '',
    `event loop during ${watchMs} ms:`,
    `  busy ${(utilization * 100).toFixed(1)} %`,
    // The monitor's own timer takes a millisecond, which is part of each figure.
    `  time between turns: p50 ${toMs(delay.percentile(50))}, p99 ${toMs(delay.percentile(99))}, ` +
      `max ${toMs(delay.max)}`,
    '',
  ].join('\n')
}
