import { status } from '@portcullis/grpc-unary'
import { type GrpcClient, type GrpcResult, openGrpcClient } from '@portcullis/grpc-unary/client'
import type { GrpcService } from '../../config/limits/service-address.ts'
import { findBytes, findNumber, readFields, toField, toNumber, toText } from '../../wire-format.ts'
import type { RequestLimit } from '../request-limits.ts'
import type { LimitService } from './limit-service.ts'

export interface GrpcLimitsSettings {
  readonly service: GrpcService
  /** Sent to the service as the deadline of the call. */
  readonly timeoutMs: number
  readonly now: () => number
}

/** Limits the memory that attackers can fill. */
const mostRefused = 100_000

const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

/** Calls a rate limit service with the Envoy protocol. */
export function openGrpcLimits({ service, timeoutMs, now }: GrpcLimitsSettings): LimitService {
  const { address, isEncrypted, domain, rules } = service
  let opening: Promise<GrpcClient> | undefined

  const open = (): Promise<GrpcClient> => {
    if (opening) return opening
    const fresh = openGrpcClient({ address, ...(isEncrypted && { tls: {} }) })
    opening = fresh
    // The waiting caller gets the error; the next call connects again.
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
    // The service may have closed an idle connection.
    if (mayRetry && result.code === status.UNAVAILABLE) return call(message, false)
    throw new Error(`gRPC status ${result.code}: ${result.message}`)
  }

  // The protocol can neither read a count without incrementing it nor reset it. Rejected keys are
  // therefore remembered here until the reset time that the service reported.
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
      throw new Error(`it has no domain "${domain}": add a rule file with domain: ${domain}`)
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

/** A limit, converted for a service that counts in windows of fixed units. */
interface LimitWindow {
  readonly requests: number
  /** The number in `envoy.type.v3.RateLimitUnit`. */
  readonly unit: number
  /** The current part of the unit; undefined if the window is the whole unit. */
  readonly part: number | undefined
  /** Seconds until the window ends. */
  readonly secondsLeft: number
}

const units = [
  { wire: 1, seconds: 1 },
  { wire: 2, seconds: 60 },
  { wire: 3, seconds: 3_600 },
  { wire: 4, seconds: 86_400 },
] as const
const day = units[3]

/** The protocol uses 32 bits. */
const mostRequests = 2 ** 32 - 1

/**
 * A window as long as the bucket takes to fill, with the burst as its limit: 30 in 5 minutes, or 30
 * per minute for 150 in 5 minutes with a burst of 30. In any period of that length, at most twice the
 * burst is allowed, as with the bucket.
 *
 * The protocol has units but no lengths. A window of 5 minutes is therefore a part of an hour, and
 * the descriptor names the part: each part has its own counter.
 */
export function toLimitWindow(limit: RequestLimit, nowMs: number): LimitWindow {
  const { most, periodMs, burst } = limit
  const fillSeconds = Math.ceil((burst * periodMs) / most / 1_000)
  const seconds = Math.min(Math.max(fillSeconds, 1), day.seconds)
  const unit = units.find((each) => each.seconds >= seconds) ?? day
  const nowInUnit = Math.floor(nowMs / 1_000) % unit.seconds
  const part = Math.floor(nowInUnit / seconds)
  return {
    requests: Math.min(mostRequests, Math.max(1, Math.floor((most * seconds * 1_000) / periodMs))),
    unit: unit.wire,
    part: seconds === unit.seconds ? undefined : part,
    secondsLeft: Math.min((part + 1) * seconds, unit.seconds) - nowInUnit,
  }
}

/** The part of a descriptor in `envoy.service.ratelimit.v3` that is needed here. */
interface Descriptor {
  readonly entries: readonly (readonly [key: string, value: string])[]
  /** Overrides the rules of the service. */
  readonly limit: { readonly requestsPerUnit: number; readonly unit: number } | undefined
}

/** Encodes a `RateLimitRequest`. */
function encodeRequest(domain: string, { entries, limit }: Descriptor): Buffer {
  const parts = entries.map(([key, value]) => toField(1, [toText(1, key), toText(2, value)]))
  if (limit) {
    parts.push(toField(2, [toNumber(1, limit.requestsPerUnit), toNumber(2, limit.unit)]))
  }
  return Buffer.concat([toText(1, domain), toField(2, parts)])
}

interface Decision {
  readonly isOver: boolean
  /** Whether a limit was applied: a service without the domain or a rule allows everything. */
  readonly hasLimit: boolean
  /** Seconds until further requests are allowed, if the service reports it. */
  readonly resetSeconds: number | undefined
}

const overLimit = 2

/** Decodes the `RateLimitResponse` to a request with one descriptor. */
function decodeResponse(message: Buffer): Decision {
  const response = readFields(message)
  const status = readFields(findBytes(response, 2))
  return {
    isOver: findNumber(response, 1) === overLimit,
    hasLimit: status.has(2),
    resetSeconds: findNumber(readFields(findBytes(status, 4)), 1),
  }
}
