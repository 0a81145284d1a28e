import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { status } from '@portcullis/grpc-unary'
import type { GrpcCallOptions, GrpcResult } from '@portcullis/grpc-unary/client'
import type { RateLimitRequest } from '../../src/protocol/message.ts'
import { openDecisionClient } from './service-client.ts'

/** A call that has ended. */
export interface LoadedCall extends Pick<GrpcResult, 'code' | 'message' | 'response'> {
  readonly startedMs: number
  readonly tookMs: number
}

/** Clients that make calls continuously, each on a separate connection. */
export interface Load {
  readonly calls: LoadedCall[]
  /** The calls that started since this time and have ended. */
  since(startedMs: number): LoadedCall[]
  /** Resolves when all clients have ended, because they were stopped or their connections were closed. */
  readonly ended: Promise<void>
  /** Resolves when the calls in progress have ended too. */
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly clients: number
  readonly toRequest: () => RateLimitRequest
  /** The pause between two calls of a client, for load that lasts long. Default: none. */
  readonly pauseMs?: number
  /** Options for the service; the client itself waits forever, to detect hanging calls. */
  readonly callOptions?: GrpcCallOptions
}

export async function openLoad(
  t: Pick<TestContext, 'after'>,
  service: { readonly grpcAddress: string },
  { clients: clientCount, toRequest, pauseMs = 0, callOptions = {} }: LoadOptions,
): Promise<Load> {
  const calls: LoadedCall[] = []
  let isStopped = false
  const run = async () => {
    const client = await openDecisionClient(t, service)
    return async () => {
      while (!isStopped) {
        const startedMs = performance.now()
        const { code, message, response } = await client.tryDecide(toRequest(), callOptions)
        const call = { code, message, response, startedMs, tookMs: performance.now() - startedMs }
        calls.push(call)
        // The client ends when the service has closed its connection; further calls would be a busy loop.
        if (isUnsent(call)) return
        if (pauseMs > 0) await wait(pauseMs)
      }
    }
  }
  const clients = await Promise.all(Array.from({ length: clientCount }, run))
  const ended = Promise.all(clients.map((run) => run())).then(() => undefined)
  const stop = async () => {
    isStopped = true
    await ended
  }
  t.after(() => {
    isStopped = true
  })
  return {
    calls,
    since: (startedMs) => calls.filter((call) => call.startedMs >= startedMs),
    ended,
    stop,
  }
}

/**
 * Whether the service never received the call: the connection was closing when it was made, or a GOAWAY
 * excluded it. Clients may retry it on another connection, so it is not lost.
 */
export function isUnsent({ code, message }: LoadedCall): boolean {
  const reason = /^the connection is closed$|NGHTTP2_REFUSED_STREAM$/
  return code === status.UNAVAILABLE && reason.test(message)
}
