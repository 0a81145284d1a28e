import { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** A recording by V8. It works inside the process, without an inspector port. */
export interface Recording {
  readonly defaultSeconds: number
  readonly maxSeconds: number
  readonly fileName: string
  /** Starts, waits until `finish` resolves, and resolves to the recorded JSON. */
  record(session: Session, seconds: number, finish: Promise<void>): Promise<string>
}

/** The number of samples is limited, because converting them to JSON blocks the event loop. */
const maxSamples = 20_000

export const cpuProfile: Recording = {
  defaultSeconds: 30,
  maxSeconds: 300,
  fileName: 'ratelimit.cpuprofile',
  async record(session, seconds, finish) {
    const interval = Math.max(1_000, Math.ceil((seconds * 1e6) / maxSamples))
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval })
    await session.post('Profiler.start')
    await finish
    const { profile } = await session.post('Profiler.stop')
    return JSON.stringify(profile)
  },
}

export const heapProfile: Recording = {
  defaultSeconds: 10,
  maxSeconds: 300,
  fileName: 'ratelimit.heapprofile',
  async record(session, _seconds, finish) {
    await session.post('HeapProfiler.startSampling', { samplingInterval: 32 << 10 })
    await finish
    const { profile } = await session.post('HeapProfiler.stopSampling')
    return JSON.stringify(profile)
  },
}

/** Turns of the event loop, garbage collections, DNS lookups and thread pool work. */
const traceCategories = ['v8', 'node.environment', 'node.dns.native', 'node.threadpoolwork.async']
const maxTraceEvents = 100_000

export const trace: Recording = {
  defaultSeconds: 1,
  maxSeconds: 30,
  fileName: 'ratelimit.trace.json',
  async record(session, _seconds, finish) {
    const events: string[] = []
    const complete = Promise.withResolvers<void>()
    session.on('NodeTracing.dataCollected', ({ params }) => {
      for (const event of params.value) {
        if (events.length < maxTraceEvents) events.push(JSON.stringify(event))
      }
    })
    session.on('NodeTracing.tracingComplete', () => complete.resolve())
    await session.post('NodeTracing.start', {
      traceConfig: { includedCategories: traceCategories },
    })
    await finish
    await session.post('NodeTracing.stop')
    // The event may be missing if nothing was traced.
    await Promise.race([complete.promise, sleep(1_000)])
    return `{"traceEvents":[${events.join(',\n')}]}`
  },
}

/** Records until the time is over. Rejects immediately when `cancelled` is aborted. */
export async function record(
  recording: Recording,
  seconds: number,
  cancelled: AbortSignal,
): Promise<string> {
  const session = new Session()
  session.connect()
  try {
    const finish = sleep(seconds * 1_000, undefined, { signal: cancelled })
    return await recording.record(session, seconds, finish)
  } finally {
    // Disconnecting ends everything that still runs in the session.
    session.disconnect()
  }
}
