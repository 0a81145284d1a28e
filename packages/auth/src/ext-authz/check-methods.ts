import { type Methods, status, type UnaryCall } from '@portcullis/grpc-unary'
import { ApiError } from '../errors.ts'
import { authorizeRequest, identityPrefix } from '../features/api-keys/authorize-request.ts'
import { toRequestId } from '../http/slow-clients.ts'
import { toErrorAnswer } from '../http/stages/error-answer.ts'
import type { Services } from '../services.ts'
import {
  type CheckedRequest,
  decodeCheckRequest,
  encodeAllowed,
  encodeDenied,
} from './check-messages.ts'
import { decode, send } from './unary-messages.ts'

export const checkService = 'envoy.service.auth.v3.Authorization'

export interface CheckSettings {
  /** A reload of the configuration replaces them. */
  readonly getServices: () => Services
  /** Called with the errors that callers do not see. */
  readonly report: (error: unknown) => void
}

/** The gRPC method for Envoy's filter `ext_authz`. */
export function createCheckMethods({ getServices, report }: CheckSettings): Methods {
  const check = async (call: UnaryCall): Promise<void> => {
    const request = decode(call, decodeCheckRequest)
    if (request === undefined) return
    try {
      send(call, await toDecision(getServices(), request))
    } catch (error) {
      // Envoy then refuses the request, unless its failure_mode_allow is set.
      report(error)
      call.fail(status.UNAVAILABLE, 'the caller could not be looked up')
    }
  }
  return { [`/${checkService}/Check`]: { kind: 'unary', handle: check } }
}

/** @throws {Error} if it is not known who the caller is. */
async function toDecision(
  services: Services,
  { headers, clientIp }: CheckedRequest,
): Promise<Buffer> {
  try {
    const client = clientIp === undefined ? undefined : { ip: clientIp }
    const identity = await authorizeRequest(services, headers.get('authorization'), client)
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
