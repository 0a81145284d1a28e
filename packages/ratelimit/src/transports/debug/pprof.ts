import type { IncomingMessage, ServerResponse } from 'node:http'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log/log'
import { sendText } from '../http-listener.ts'
import type { DebugEndpoint } from './endpoint.ts'
import { cpuProfile, heapProfile, type Recording, record, trace } from './recordings.ts'

export const profileRoot = '/debug/pprof/'

const index = `Profiles of this process. They are recorded by V8, not by Go: open them in the developer
tools of Chrome or Edge, or in VS Code. Only one can run at a time; closing the connection ends it.

/debug/pprof/profile?seconds=30   CPU profile (.cpuprofile), up to 300 seconds
/debug/pprof/heap?seconds=10      memory allocated in that time and still in use (.heapprofile)
/debug/pprof/trace?seconds=1      turns of the event loop and garbage collections, for
                                  chrome://tracing or ui.perfetto.dev, up to 30 seconds
/debug/pprof/goroutine            active resources and the delay of the event loop

With several processes (WORKERS), each of these accepts ?worker=N. 1 is the first worker; primary is
the process that accepts connections and sends statistics. By default the first worker that answers
is used.

These pages are available only from this machine. From other machines, send the header
authorization: Bearer VALUE with the value of DEBUG_TOKEN.

There is no heap snapshot, because taking one blocks all decisions. If you need one, start a separate
process with NODE_OPTIONS=--heapsnapshot-signal=SIGUSR2.
`

/**
 * The profiling endpoints. Only one can run at a time, because concurrent profiles would affect each other.
 */
export function createProfileEndpoints(log: Log): DebugEndpoint[] {
  let running: string | undefined

  const handleRecording = (path: string, recording: Recording) => {
    const take = async (seconds: number, response: ServerResponse): Promise<void> => {
      const text = await record(recording, seconds, toDisconnectSignal(response))
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-disposition': `attachment; filename="${recording.fileName}"`,
        'content-length': Buffer.byteLength(text),
      })
      response.end(text)
    }
    return (request: IncomingMessage, response: ServerResponse): void => {
      const seconds = parseSeconds(request.url ?? '', recording)
      if (seconds === undefined) {
        sendText(response, 400, `seconds must be a number up to ${recording.maxSeconds}\n`)
        return
      }
      if (running !== undefined) {
        sendText(response, 409, `${running} is being recorded; try again when it is done\n`)
        return
      }
      running = path
      // Nothing is sent before the end, so the idle timeout must not apply.
      request.socket.setTimeout(0)
      finish(take(seconds, response), response, () => {
        running = undefined
      })
    }
  }

  const finish = (work: Promise<void>, response: ServerResponse, done?: () => void): void => {
    work
      .catch((error: unknown) => {
        if (response.destroyed) return
        log.error(`The debug listener could not respond: ${String(error)}`)
        sendText(response, 500, 'Internal Server Error\n')
      })
      .finally(() => done?.())
  }

  return [
    {
      path: profileRoot,
      help: 'root of various pprof endpoints. hit for help.',
      handle: (_request, response) => sendText(response, 200, index),
    },
    {
      path: `${profileRoot}profile`,
      help: 'CPU profiling endpoint',
      isGuarded: true,
      handle: handleRecording(`${profileRoot}profile`, cpuProfile),
    },
    {
      path: `${profileRoot}heap`,
      help: 'heap profiling endpoint',
      isGuarded: true,
      handle: handleRecording(`${profileRoot}heap`, heapProfile),
    },
    {
      path: `${profileRoot}trace`,
      help: 'trace endpoint',
      isGuarded: true,
      handle: handleRecording(`${profileRoot}trace`, trace),
    },
    {
      path: `${profileRoot}goroutine`,
      help: 'active resources and event loop delay',
      isGuarded: true,
      handle: (_request, response) => {
        const report = reportEventLoop(toDisconnectSignal(response))
        finish(
          report.then((text) => sendText(response, 200, text)),
          response,
        )
      },
    },
  ]
}

function parseSeconds(target: string, recording: Recording): number | undefined {
  const query = target.indexOf('?')
  const text = new URLSearchParams(query === -1 ? '' : target.slice(query)).get('seconds')
  if (text === null || text === '') return recording.defaultSeconds
  const seconds = Number(text)
  return seconds > 0 && seconds <= recording.maxSeconds ? seconds : undefined
}

/** Aborted when the client disconnects before the response was sent. */
function toDisconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => controller.abort())
  return controller.signal
}

const watchMs = 1_000

/**
 * Replaces Go's list of goroutines: the active resources of the process, and the delay of the event loop
 * during one second.
 */
async function reportEventLoop(cancelled: AbortSignal): Promise<string> {
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
    // Each figure includes the millisecond of the monitor's own timer.
    `  time between turns: p50 ${toMs(delay.percentile(50))}, p99 ${toMs(delay.percentile(99))}, ` +
      `max ${toMs(delay.max)}`,
    '',
  ].join('\n')
}
