import { type Methods, status, type UnaryCall } from '@portcullis/grpc-unary'
import { ApiError } from '../errors.ts'
import { authorizeRequest, identityPrefix } from '../features/api-keys/authorize-request.ts'
import { toRequestId } from '../http/slow-clients.ts'
import { toErrorAnswer } from '../http/stages/error-answer.ts'
import type { Services } from '../services.ts'
import { WireError } from '../wire-format.ts'
import {
  decodeCheckRequest,
  decodeHealthRequest,
  encodeAllowed,
  encodeDenied,
  encodeHealth,
  type RequestHeaders,
} from './check-messages.ts'

const checkService = 'envoy.service.auth.v3.Authorization'

export interface CheckSettings {
  /** A reload of the configuration replaces them. */
  readonly getServices: () => Services
  /** Called with the errors that callers do not see. */
  readonly report: (error: unknown) => void
}

/** The gRPC methods for Envoy's filter `ext_authz`, and the health service. */
export function createCheckMethods({ getServices, report }: CheckSettings): Methods {
  const check = async (call: UnaryCall): Promise<void> => {
    const headers = decode(call, decodeCheckRequest)
    if (headers === undefined) return
    try {
      send(call, await toDecision(getServices(), headers))
    } catch (error) {
      // Envoy then refuses the request, unless its failure_mode_allow is set.
      report(error)
      call.fail(status.UNAVAILABLE, 'the caller could not be looked up')
    }
  }
  const checkHealth = async (call: UnaryCall): Promise<void> => {
    const service = decode(call, decodeHealthRequest)
    if (service === undefined) return
    if (service === '') return send(call, encodeHealth(true))
    if (service !== checkService) return call.fail(status.NOT_FOUND, 'unknown service')
    const { isReady } = await getServices().readiness.check()
    send(call, encodeHealth(isReady))
  }
  return {
    [`/${checkService}/Check`]: { kind: 'unary', handle: check },
    '/grpc.health.v1.Health/Check': { kind: 'unary', handle: checkHealth },
  }
}

/** @throws {Error} if it is not known who the caller is. */
async function toDecision(services: Services, headers: RequestHeaders): Promise<Buffer> {
  try {
    const identity = await authorizeRequest(services, headers.get('authorization'))
    const entries = Object.entries(identity).map(([name, value]) => [toTerm(name), value])
    return encodeAllowed({
      headers: identity,
      removed: [...headers.keys()].filter((name) => isForged(name, identity)),
      metadata: Object.fromEntries(entries),
    })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    const answer = toErrorAnswer(error, false, toRequestId(undefined))
    const headers = { ...answer.headers, 'content-type': 'application/json' }
    return encodeDenied({ status: answer.status, headers, body: JSON.stringify(answer.body) })
  }
}

/** `x-auth-key-id` is `key_id` in rate limits. */
function toTerm(header: string): string {
  return header.slice(identityPrefix.length).replaceAll('-', '_')
}

/** Some frameworks treat `x_auth_role` as `x-auth-role`. Headers that are replaced need not be removed. */
function isForged(name: string, identity: Readonly<Record<string, string>>): boolean {
  return name.replaceAll('_', '-').startsWith(identityPrefix) && !Object.hasOwn(identity, name)
}

function decode<Decoded>(
  call: UnaryCall,
  decodeMessage: (message: Buffer) => Decoded,
): Decoded | undefined {
  try {
    return decodeMessage(call.buffer.subarray(call.start, call.end))
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    call.fail(status.INVALID_ARGUMENT, error.message)
    return undefined
  }
}

function send(call: UnaryCall, message: Buffer): void {
  call.send(message, 0, message.length)
}
