import type { IncomingMessage, ServerResponse } from 'node:http'
import { decisionsPath } from '../transports/debug/debug.ts'
import type { DebugEndpoint } from '../transports/debug/endpoint.ts'
import { profileRoot } from '../transports/debug/pprof.ts'
import { sendText } from '../transports/http-listener.ts'
import type { RatelimitWorker } from './statistics-collector.ts'

/** The running workers, ordered by number. */
type Workers = () => readonly RatelimitWorker[]

/**
 * The pages of the debug listener with several processes. A profile or a record of decisions is that of one
 * process, and only workers have the rules: such a request is handed over to a worker with its connection.
 */
export function toPrimaryPages(
  endpoints: readonly DebugEndpoint[],
  workers: Workers,
  release: (request: IncomingMessage) => void,
): DebugEndpoint[] {
  const pass = (endpoint: DebugEndpoint, request: IncomingMessage, response: ServerResponse) => {
    const requested = readWorker(request.url ?? '')
    if (requested === 'primary' && isProfile(endpoint)) {
      endpoint.handle(request, response)
      return
    }
    const able = workers().filter(({ isReady }) => isReady)
    const wanted =
      requested === undefined ? able : able.filter(({ number }) => `${number}` === requested)
    const worker = wanted.find(({ isResponsive }) => isResponsive) ?? wanted[0]
    if (worker === undefined) {
      const numbers = able.map(({ number }) => number).join(', ')
      sendText(response, 404, `worker must be one of: primary, ${numbers}\n`)
      return
    }
    const { socket } = request
    release(request)
    const head = `${request.method} ${request.url} HTTP/1.1\r\nhost: debug\r\nconnection: close\r\n\r\n`
    worker.hand({ message: { kind: 'connection', listener: 'debug', read: head }, socket })
  }
  const passed = endpoints.map((endpoint) => {
    const { path } = endpoint
    if (!isProfile(endpoint) && path !== '/rlconfig' && path !== decisionsPath) return endpoint
    const help = `${endpoint.help}${toProcessHelp(endpoint)}`
    const handle: DebugEndpoint['handle'] = (request, response) => pass(endpoint, request, response)
    return { ...endpoint, help, handle }
  })
  return [...passed, createWorkersPage(workers)].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function isProfile({ path }: DebugEndpoint): boolean {
  return path.startsWith(profileRoot) && path !== profileRoot
}

function toProcessHelp(endpoint: DebugEndpoint): string {
  if (isProfile(endpoint)) return ' (of a process: ?worker=N or =primary)'
  return endpoint.path === decisionsPath ? ' (of a worker: ?worker=N)' : ''
}

function createWorkersPage(workers: Workers): DebugEndpoint {
  return {
    path: '/workers',
    help: 'print out the worker processes and their connections',
    isGuarded: true,
    handle: (_request, response) => {
      const lines = workers().map((worker) => `${toLine(worker)}\n`)
      sendText(response, 200, lines.join(''))
    },
  }
}

function toLine(worker: RatelimitWorker): string {
  const { number, pid, isReady, isResponsive } = worker
  const state = !isReady ? 'starting' : isResponsive ? 'serving' : 'silent'
  const seconds = Math.floor((performance.now() - worker.startedMs) / 1_000)
  const count = (listener: 'grpc' | 'http') => worker.countConnections(listener)
  return (
    `worker ${number}: pid=${pid} state=${state} up_seconds=${seconds} ` +
    `grpc_connections=${count('grpc')} http_connections=${count('http')}`
  )
}

function readWorker(target: string): string | undefined {
  const query = target.indexOf('?')
  return new URLSearchParams(query === -1 ? '' : target.slice(query)).get('worker') ?? undefined
}
