import process from 'node:process'

/** The resource usage of the process. The names replace Go's `ratelimit.go.*`. */
export function processGauges(): (readonly [name: string, value: number])[] {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage()
  return [
    ['ratelimit.node.memory.array_buffers', arrayBuffers],
    ['ratelimit.node.memory.external', external],
    ['ratelimit.node.memory.heap_total', heapTotal],
    ['ratelimit.node.memory.heap_used', heapUsed],
    ['ratelimit.node.memory.rss', rss],
    ['ratelimit.node.uptime_seconds', Math.floor(process.uptime())],
  ]
}
