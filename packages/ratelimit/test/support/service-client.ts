import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import {
  type GrpcCallOptions,
  type GrpcClient,
  type GrpcResult,
  openGrpcClient,
} from '@portcullis/grpc-unary/client'
import { encodeRequest } from '../../src/protocol/encode.ts'
import type { RateLimitRequest, RateLimitResponse } from '../../src/protocol/message.ts'
import { decodeResponse } from './decode-response.ts'

export const decisionPath = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

/** A gRPC client of a service. */
export interface DecisionClient {
  /** Returns the decision; fails the test if there is none. */
  decide(request: RateLimitRequest, options?: GrpcCallOptions): Promise<RateLimitResponse>
  /** Returns the result, whether it is a decision or an error. */
  tryDecide(request: RateLimitRequest, options?: GrpcCallOptions): Promise<GrpcResult>
  call: GrpcClient['call']
  close(): Promise<void>
}

export async function openDecisionClient(
  t: Pick<TestContext, 'after'>,
  { grpcAddress }: { readonly grpcAddress: string },
): Promise<DecisionClient> {
  const client = await openGrpcClient({ address: grpcAddress })
  t.after(() => client.close())
  const tryDecide: DecisionClient['tryDecide'] = (request, options) =>
    client.call(decisionPath, toBytes(request), options)
  return {
    tryDecide,
    decide: async (request, options) => toResponse(await tryDecide(request, options)),
    call: client.call,
    close: client.close,
  }
}

export function toBytes(request: RateLimitRequest): Buffer {
  const { buffer, length } = encodeRequest(request)
  return Buffer.from(buffer.subarray(0, length))
}

export function toResponse({ code, message, response }: GrpcResult): RateLimitResponse {
  assert.equal(code, status.OK, message)
  return decodeResponse(response)
}

/** All statistics of `/stats`. */
export async function readStatistics({
  debugUrl,
}: {
  readonly debugUrl: string
}): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${debugUrl}/stats`)).text()
  return new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line) => {
        const at = line.lastIndexOf(': ')
        return [line.slice(0, at), Number(line.slice(at + 2))]
      }),
  )
}

/** The statistics of one rule that are not 0, by the last part of their names. */
export async function readRule(
  service: { readonly debugUrl: string },
  key: string,
): Promise<Record<string, number>> {
  const prefix = `ratelimit.service.rate_limit.${key}.`
  const found: Record<string, number> = {}
  for (const [name, value] of await readStatistics(service)) {
    const last = name.slice(prefix.length)
    if (value !== 0 && name.startsWith(prefix) && !last.includes('.')) found[last] = value
  }
  return found
}

export interface JsonAnswer {
  readonly status: number
  readonly type: string | null
  readonly text: string
}

export async function postJson(
  { httpUrl }: { readonly httpUrl: string },
  body: string | Uint8Array<ArrayBuffer>,
): Promise<JsonAnswer> {
  const response = await fetch(`${httpUrl}/json`, { method: 'POST', body })
  const text = await response.text()
  return { status: response.status, type: response.headers.get('content-type'), text }
}
