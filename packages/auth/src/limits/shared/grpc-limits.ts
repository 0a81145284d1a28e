import { status } from '@portcullis/grpc-unary'
import { type GrpcClient, type GrpcResult, openGrpcClient } from '@portcullis/grpc-unary/client'
import type { GrpcService } from '../../config/limit-service.ts'
import { decodeResponse, encodeRequest } from './envoy-message.ts'
import type { LimitService } from './limit-service.ts'
import { toLimitWindow } from './limit-window.ts'

export interface GrpcLimitsSettings {
  readonly service: GrpcService
  /** The service is told how long its answer is worth something. */
  readonly timeoutMs: number
  readonly now: () => number
}

/** More would be an attack on memory. */
const mostRefused = 100_000

const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

/** Asks a rate limit service that speaks the protocol of Envoy. */
export function openGrpcLimits({ service, timeoutMs, now }: GrpcLimitsSettings): LimitService {
  const { address, isEncrypted, domain, rules } = service
  let opening: Promise<GrpcClient> | undefined

  const open = (): Promise<GrpcClient> => {
    if (opening) return opening
    const fresh = openGrpcClient({ address, ...(isEncrypted && { tls: {} }) })
    opening = fresh
    // Who waits hears of it; the next one tries again.
    fresh.catch(() => forget(fresh))
    return fresh
  }
  const forget = (client: Promise<GrpcClient> | undefined) => {
    if (opening === client) opening = undefined
    void client?.then(
      (opened) => opened.close(),
      () => {},
    )
  }
  const call = async (message: Buffer, mayRetry: boolean): Promise<GrpcResult> => {
    const client = open()
    const result = await (await client).call(path, message, { deadlineMs: timeoutMs })
    if (result.code === status.OK) return result
    forget(client)
    // A connection that was idle may have been closed from the other side.
    if (mayRetry && result.code === status.UNAVAILABLE) return call(message, false)
    throw new Error(`gRPC status ${result.code}: ${result.message}`)
  }

  // The protocol knows neither a question that counts nothing nor an end of a count before its time. So
  // whoever was refused is remembered here, until the time that the service has named.
  const refused = new Map<string, number>()
  const remember = (limiter: string, key: string, waitSeconds: number | undefined) => {
    const id = `${limiter}\0${key}`
    refused.delete(id)
    if (waitSeconds === undefined) return
    refused.set(id, now() + waitSeconds * 1_000)
    const [oldest] = refused.keys()
    if (refused.size > mostRefused && oldest !== undefined) refused.delete(oldest)
  }
  const take: LimitService['take'] = async (limiter, key, limit) => {
    const who = [
      ['limiter', limiter],
      ['address', key],
    ] as const
    if (rules === 'service') {
      const { response } = await call(
        encodeRequest(domain, { entries: who, limit: undefined }),
        true,
      )
      const { isOver, resetSeconds } = decodeResponse(response)
      return isOver ? Math.max(1, resetSeconds ?? 1) : undefined
    }
    const { requests, unit, part, secondsLeft } = toLimitWindow(limit, now())
    const { response } = await call(
      encodeRequest(domain, {
        entries: part === undefined ? who : [...who, ['part', `${part}`]],
        limit: { requestsPerUnit: requests, unit },
      }),
      true,
    )
    const { isOver, hasLimit, resetSeconds } = decodeResponse(response)
    if (!hasLimit) {
      throw new Error(
        `it does not know the domain "${domain}": give it a rule file that says domain: ${domain}`,
      )
    }
    if (!isOver) return undefined
    return Math.max(1, part === undefined ? (resetSeconds ?? secondsLeft) : secondsLeft)
  }

  return {
    connect: async () => void (await open()),
    async take(limiter, key, limit) {
      const waitSeconds = await take(limiter, key, limit)
      remember(limiter, key, waitSeconds)
      return waitSeconds
    },
    async peek(limiter, key, { burst }) {
      const untilMs = refused.get(`${limiter}\0${key}`) ?? 0
      const waitSeconds = Math.max(0, Math.ceil((untilMs - now()) / 1_000))
      return { left: waitSeconds > 0 ? 0 : burst, waitSeconds }
    },
    async clear(limiter, key) {
      remember(limiter, key, undefined)
    },
    drop: () => forget(opening),
    async [Symbol.asyncDispose]() {
      const client = await opening?.catch(() => undefined)
      await client?.close()
    },
  }
}
