import {
  type Methods,
  type StreamCall,
  type StreamHandler,
  status,
  type UnaryCall,
} from '@portcullis/grpc-unary'
import { WireError } from '../wire-format.ts'
import {
  decodeHealthRequest,
  encodeHealth,
  type ServingStatus,
  servingStatus,
} from './check-messages.ts'
import { checkService } from './check-methods.ts'
import { decode, send } from './unary-messages.ts'

interface HealthSettings {
  /** A reload of the configuration replaces it. */
  readonly getReadiness: () => { check(): Promise<{ readonly isReady: boolean }> }
  /** How often watched services are checked, in milliseconds. */
  readonly everyMs?: number
}

interface HealthService {
  readonly methods: Methods
  /** Reports that the server does not serve any longer, and ends all watches. */
  drain(): void
}

interface Watch {
  readonly service: string
  /** The status that the client knows. */
  last: ServingStatus | undefined
}

/**
 * The gRPC health service. The service for `ext_authz` serves while the server is ready; the service with the empty
 * name is the process.
 */
export function createHealthService({
  getReadiness,
  everyMs = 1_000,
}: HealthSettings): HealthService {
  const watches = new Map<StreamCall, Watch>()
  let timer: NodeJS.Timeout | undefined
  let isDraining = false

  const findStatus = async (service: string): Promise<ServingStatus> => {
    if (service !== '' && service !== checkService) return servingStatus.unknownService
    if (isDraining) return servingStatus.notServing
    if (service === '') return servingStatus.serving
    const { isReady } = await getReadiness().check()
    return isReady ? servingStatus.serving : servingStatus.notServing
  }
  const check = async (call: UnaryCall): Promise<void> => {
    const service = decode(call, decodeHealthRequest)
    if (service === undefined) return
    const found = await findStatus(service)
    if (found === servingStatus.unknownService) call.fail(status.NOT_FOUND, 'unknown service')
    else send(call, encodeHealth(found))
  }
  const report = (call: StreamCall, watch: Watch, found: ServingStatus): void => {
    if (!call.isOpen || watch.last === found) return
    watch.last = found
    call.send(encodeHealth(found))
  }
  const update = async (call: StreamCall, watch: Watch): Promise<void> => {
    const found = await findStatus(watch.service)
    // The server may have begun to drain meanwhile.
    if (watches.has(call)) report(call, watch, found)
  }
  /** Checks the services until there is no watch left. */
  const schedule = (): void => {
    if (timer !== undefined || watches.size === 0) return
    timer = setTimeout(() => void updateAll(), everyMs)
    timer.unref()
  }
  const updateAll = async (): Promise<void> => {
    await Promise.all([...watches].map(([call, watch]) => update(call, watch)))
    timer = undefined
    schedule()
  }
  const open = (call: StreamCall): StreamHandler => ({
    async message(bytes) {
      // The call has one request message; more are ignored.
      if (watches.has(call)) return
      const service = readService(call, bytes)
      if (service === undefined) return
      const watch: Watch = { service, last: undefined }
      if (isDraining) return endWatch(call, watch)
      watches.set(call, watch)
      schedule()
      await update(call, watch)
    },
    halfClose() {
      if (call.isOpen && !watches.has(call)) {
        call.fail(status.INVALID_ARGUMENT, 'the call has no request message')
      }
    },
    cancel() {
      watches.delete(call)
    },
  })
  /** The client connects again, to another process. */
  const endWatch = (call: StreamCall, watch: Watch): void => {
    report(call, watch, servingStatus.notServing)
    call.fail(status.UNAVAILABLE, 'the server is shutting down')
  }
  const drain = (): void => {
    isDraining = true
    const ending = [...watches]
    watches.clear()
    clearTimeout(timer)
    for (const [call, watch] of ending) endWatch(call, watch)
  }
  return {
    methods: {
      '/grpc.health.v1.Health/Check': { kind: 'unary', handle: check },
      '/grpc.health.v1.Health/Watch': { kind: 'stream', open },
    },
    drain,
  }
}

/** Undefined if the message is invalid; the call has failed then. */
function readService(call: StreamCall, message: Buffer): string | undefined {
  try {
    return decodeHealthRequest(message)
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    call.fail(status.INVALID_ARGUMENT, error.message)
    return undefined
  }
}
