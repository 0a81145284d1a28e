import {
  type Methods,
  type StreamCall,
  type StreamHandler,
  status,
  type UnaryCall,
} from '@portcullis/grpc-unary'
import type { Health } from '@portcullis/service-kit/process/health'
import { DecodeError } from '../protocol/message.ts'
import { WireReader } from '../protocol/wire-reader.ts'
import type { HttpHandler } from './http-listener.ts'

export const healthService = 'grpc.health.v1.Health'

/** `HealthCheckResponse.ServingStatus` */
const SERVING = 1
const NOT_SERVING = 2
const SERVICE_UNKNOWN = 3
type ServingStatus = typeof SERVING | typeof NOT_SERVING | typeof SERVICE_UNKNOWN

/**
 * The gRPC health service. The status of the service `ratelimit` follows the health; the service with the
 * empty name is the process, which is SERVING as long as it runs.
 */
export function createHealthMethods(health: Pick<Health, 'isHealthy' | 'subscribe'>): Methods {
  const services: Readonly<Record<string, () => ServingStatus>> = {
    '': () => SERVING,
    ratelimit: () => (health.isHealthy ? SERVING : NOT_SERVING),
  }
  const find = (service: string) =>
    Object.hasOwn(services, service) ? services[service]?.() : undefined
  /** The open watches, with functions that end their subscriptions. */
  const watches = new Map<StreamCall, () => void>()

  const check = (call: UnaryCall): void => {
    const request = decodeRequest(call.buffer, call.start, call.end)
    if (request instanceof DecodeError) {
      call.fail(status.INTERNAL, request.message)
      return
    }
    const found = find(request.service)
    if (found === undefined) call.fail(status.NOT_FOUND, 'unknown service')
    else sendWhole(call, encodeResponse(found))
  }
  const list = (call: UnaryCall): void => {
    const entries = Object.entries(services).map(([name, get]) => encodeListEntry(name, get()))
    sendWhole(call, Buffer.concat(entries))
  }
  const watch = (call: StreamCall): StreamHandler => ({
    message(bytes) {
      if (watches.has(call)) return
      const request = decodeRequest(bytes, 0, bytes.length)
      if (request instanceof DecodeError) call.fail(status.INTERNAL, request.message)
      else startWatch(call, request.service)
    },
    halfClose() {
      if (call.isOpen && !watches.has(call)) {
        call.fail(status.INTERNAL, 'the call has no request message')
      }
    },
    cancel: () => endWatch(call),
  })
  const startWatch = (call: StreamCall, service: string): void => {
    let last: ServingStatus | undefined
    const sendStatus = () => {
      const current = find(service) ?? SERVICE_UNKNOWN
      if (current === last) return
      last = current
      call.send(encodeResponse(current))
    }
    watches.set(call, health.subscribe(sendStatus))
    sendStatus()
  }
  const endWatch = (call: StreamCall): void => {
    watches.get(call)?.()
    watches.delete(call)
  }

  return {
    [`/${healthService}/Check`]: { kind: 'unary', handle: check },
    [`/${healthService}/List`]: { kind: 'unary', handle: list },
    [`/${healthService}/Watch`]: { kind: 'stream', open: watch },
  }
}

const reader = new WireReader()
const serviceTag = (1 << 3) | 2

/** `HealthCheckRequest { string service = 1 }` */
function decodeRequest(
  buffer: Buffer,
  start: number,
  end: number,
): { readonly service: string } | DecodeError {
  let service = ''
  try {
    reader.open(buffer, start, end)
    while (reader.hasMore()) {
      const tag = reader.readTag()
      if (tag === serviceTag) service = reader.readString()
      else reader.skip(tag)
    }
  } catch (error) {
    if (error instanceof DecodeError) return error
    throw error
  }
  return { service }
}

function sendWhole(call: UnaryCall, message: Uint8Array): void {
  call.send(message, 0, message.length)
}

/** `HealthCheckResponse { status = 1 }` */
function encodeResponse(servingStatus: ServingStatus): Uint8Array {
  return Uint8Array.of(0x08, servingStatus)
}

/** An entry of `HealthListResponse { map<string, HealthCheckResponse> statuses = 1 }` */
function encodeListEntry(service: string, servingStatus: ServingStatus): Uint8Array {
  const name = Buffer.from(service)
  const response = encodeResponse(servingStatus)
  const entry = [0x0a, name.length, ...name, 0x12, response.length, ...response]
  return Uint8Array.of(0x0a, entry.length, ...entry)
}

/** `/healthcheck`, for any method: 200 with `OK`, or 500 without a body. */
export function createHealthCheckHandler(health: Pick<Health, 'isHealthy'>): HttpHandler {
  return (_request, response) => {
    if (health.isHealthy) {
      response.writeHead(200, {
        'content-type': 'text/plain; charset=utf-8',
        'content-length': 2,
      })
      response.end('OK')
    } else {
      response.writeHead(500, { 'content-length': 0 })
      response.end()
    }
  }
}
