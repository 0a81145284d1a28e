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

/** Clients that ask again and again, each on a connection of its own. */
export interface Load {
  readonly calls: LoadedCall[]
  /** Those that began since this call and have ended. */
  since(startedMs: number): LoadedCall[]
  /** Resolves when no client asks any more: they were stopped, or their connections closed. */
  readonly ended: Promise<void>
  /** Resolves when the calls under way have ended too. */
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly clients: number
  readonly toRequest: () => RateLimitRequest
  /** Between two calls of a client; without it there is none. For load that lasts long. */
  readonly pauseMs?: number
  /** Sent to the service; the client itself would wait for ever, so that what hangs is seen. */
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
        const { code, message, response } = await client.ask(toRequest(), callOptions)
        const call = { code, message, response, startedMs, tookMs: performance.now() - startedMs }
        calls.push(call)
        // Whose connection the service has closed is done; asking on would only spin.
        if (isUnsent(call)) return
        if (pauseMs > 0) await wait(pauseMs)
      }
    }
  }
  const clients = await Promise.all(Array.from({ length: clientCount }, run))
  const ended = Promise.all(clients.map((ask) => ask())).then(() => undefined)
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
 * Whether the service never saw the call: the connection took no more when it was made, or a GOAWAY
 * told that it came too late. Callers may make it again elsewhere, so it is not lost.
 */
export function isUnsent({ code, message }: LoadedCall): boolean {
  const reason = /^the connection is closed$|NGHTTP2_REFUSED_STREAM$/
  return code === status.UNAVAILABLE && reason.test(message)
}
