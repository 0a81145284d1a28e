import { setTimeout as wait } from 'node:timers/promises'
import { status } from '@portcullis/grpc-unary'
import { type GrpcClient, openGrpcClient } from '@portcullis/grpc-unary/client'
import { descriptor, requestFor } from '../support/decider.ts'
import { decodeResponse } from '../support/decode-response.ts'
import { decisionPath, toBytes } from '../support/service-client.ts'
import type { LoadedCall } from '../support/service-load.ts'

/** Enough different values that every node of a cluster has some of them. */
const valueCount = 32
export const values = Array.from({ length: valueCount }, (_, index) =>
  Math.imul(index + 1, 0x9e_37_79_b1).toString(36),
)

/** A call that takes longer counts as hanging. */
export const hangMs = 120_000

export interface SteadyLoad {
  readonly calls: readonly LoadedCall[]
  /** The number of calls without a response. */
  readonly waiting: number
  /** Stops making calls, and waits for outstanding ones for some time. */
  stop(): Promise<void>
}

export interface SteadyLoadOptions {
  readonly grpcAddress: string
  readonly connections: number
  readonly callsPerSecond: number
  /**
   * The deadline of the next call, for the service. The client itself waits forever, to detect hanging calls.
   */
  readonly deadlineMs: () => number
}

/**
 * Makes calls at a steady rate, independent of the responses, like real traffic. A lost connection is
 * replaced.
 */
export function openSteadyLoad(options: SteadyLoadOptions): SteadyLoad {
  const { grpcAddress, connections, callsPerSecond, deadlineMs } = options
  const calls: LoadedCall[] = []
  let waiting = 0
  let isStopped = false
  let next = 0

  async function call(client: GrpcClient): Promise<boolean> {
    const value = values[next++ % valueCount]
    const startedMs = performance.now()
    waiting += 1
    const request = toBytes(requestFor('d', descriptor(`k=${value}`)))
    const headers = { 'grpc-timeout': `${deadlineMs()}m` }
    const { code, message, response } = await client.call(decisionPath, request, { headers })
    waiting -= 1
    calls.push({ code, message, response, startedMs, tookMs: performance.now() - startedMs })
    return code !== status.UNAVAILABLE
  }

  async function run(): Promise<void> {
    const pauseMs = (connections * 1_000) / callsPerSecond
    while (!isStopped) {
      const client = await openGrpcClient({ address: grpcAddress }).catch(() => undefined)
      let isUsable = client !== undefined
      while (client !== undefined && isUsable && !isStopped) {
        void call(client).then((goesOn) => {
          isUsable &&= goesOn
        })
        await wait(pauseMs)
      }
      if (client === undefined) await wait(pauseMs)
      else void untilAnswered().then(() => client.close())
    }
  }

  async function untilAnswered(): Promise<void> {
    const giveUpMs = performance.now() + hangMs
    while (waiting > 0 && performance.now() < giveUpMs) await wait(10)
  }

  const runs = Array.from({ length: connections }, run)
  return {
    calls,
    get waiting() {
      return waiting
    },
    async stop() {
      isStopped = true
      await Promise.all(runs)
      await untilAnswered()
    },
  }
}

/** A time until reset of 0 or less would mean that a wrong clock was trusted. */
export function hasValidReset({ code, response }: LoadedCall): boolean {
  if (code !== status.OK) return true
  const { statuses } = decodeResponse(response)
  return statuses.every(({ resetSeconds }) => resetSeconds !== undefined && resetSeconds >= 1)
}
