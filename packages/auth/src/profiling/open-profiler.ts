import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { createServer } from '@portcullis/service-kit/http'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { ProfilerConfig } from '../config/observability.ts'
import { encodeProfile } from './pprof.ts'
import { openProfileSource, type ProfileSource } from './take-profile.ts'

export interface ProfilerSettings {
  readonly config: ProfilerConfig
  /** The number of this worker, starting at 1. */
  readonly workerNumber: number
  readonly log: Pick<Log, 'error' | 'info'>
}

export interface ProfilerServer extends AsyncDisposable {
  /** Undefined if the port could not be opened. */
  readonly url: string | undefined
}

const defaultSeconds = 30
const maxSeconds = 300
const headersTimeoutMs = 2_000

const index = `CPU and heap profiles of this process, for "go tool pprof" and compatible viewers:

/debug/pprof/profile?seconds=30  where CPU time is spent, recorded for so many seconds (at most ${maxSeconds})
/debug/pprof/heap                where the memory in use was allocated
/debug/pprof/cmdline             the command line of the process
`

/** Serves profiles. The server starts even if the port of the profiler is in use. */
export async function openProfiler(settings: ProfilerSettings): Promise<ProfilerServer> {
  const { config, workerNumber, log } = settings
  const source = await openProfileSource()
  const stopping = new AbortController()
  const server = createServer({ headersTimeout: headersTimeoutMs }, (request, response) => {
    handle(source, request, response, stopping.signal).catch((error: Error) => {
      log.error(`A profile could not be created: ${error.message}`)
      send(response, 500, 'The profile could not be created; the reason is in the log.\n')
    })
  })
  const close = async (): Promise<void> => {
    stopping.abort()
    server.close()
    server.closeAllConnections()
    await source[Symbol.asyncDispose]()
  }
  const port = config.port === 0 ? 0 : config.port + workerNumber - 1
  try {
    server.listen(port, config.host)
    await once(server, 'listening')
  } catch (error) {
    log.error(`The profiler cannot listen on ${config.host}, port ${port}: ${toReason(error)}`)
    return { url: undefined, [Symbol.asyncDispose]: close }
  }
  const { port: bound } = server.address() as AddressInfo
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const url = `http://${host}:${bound}/debug/pprof/`
  log.info(`Profiles are served at ${url}`)
  return { url, [Symbol.asyncDispose]: close }
}

async function handle(
  source: ProfileSource,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  if (request.method !== 'GET') return send(response, 405, 'Only GET is allowed.\n')
  if (pathname === '/debug/pprof/') return send(response, 200, index)
  if (pathname === '/debug/pprof/cmdline') return send(response, 200, process.argv.join('\0'))
  if (pathname === '/debug/pprof/heap' || pathname === '/debug/pprof/allocs') {
    return sendProfile(response, 'heap', encodeProfile(await source.takeHeap()))
  }
  if (pathname !== '/debug/pprof/profile') {
    return send(response, 404, `There is no such profile.\n\n${index}`)
  }
  const seconds = Number(searchParams.get('seconds') ?? defaultSeconds)
  if (!(seconds > 0 && seconds <= maxSeconds)) {
    return send(response, 400, `seconds must be a number up to ${maxSeconds}.\n`)
  }
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  const signal = AbortSignal.any([closed.signal, stopping])
  const profile = await source.takeCpu(seconds * 1_000, signal)
  if (profile === undefined) {
    return send(response, 409, 'Another CPU profile is being recorded; try again later.\n')
  }
  sendProfile(response, 'profile', encodeProfile(profile))
}

function send(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  })
  response.end(text)
}

function sendProfile(response: ServerResponse, name: string, profile: Buffer): void {
  if (response.destroyed) return
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="${name}"`,
    'x-content-type-options': 'nosniff',
  })
  response.end(profile)
}
