import type { Target } from '@portcullis/bench-kit/server-process'
import { Connection } from '../load/connection.ts'
import { toQuantile } from '../load/prepare-load.ts'
import type { Member } from '../servers/contestants.ts'
import { type KindName, kindNames, kindOf, type LoadUser, round } from './mix.ts'

export interface SoakJob {
  readonly target: Target
  /** Each member has one connection. */
  readonly members: readonly Member[]
  readonly serviceToken: string
}

/** A part of the whole run. */
export interface LoadPhase {
  readonly seconds: number
  /** When undefined, as many requests are sent as the server can handle. */
  readonly perSecond?: number
}

export interface LoadPhaseOutcome {
  readonly calls: number
  readonly errors: number
  readonly firstError: string | undefined
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The 99th percentile of requests that hash no password. */
  readonly quickP99Ms: number
  readonly callsByKind: Readonly<Record<KindName, number>>
}

export interface MixedLoad {
  run(phase: LoadPhase): Promise<LoadPhaseOutcome>
  close(): void
}

/** The interval of checks for due requests. */
const tickMs = 2

/** Opens connections that stay open across phases and keep their sessions. */
export async function openMixedLoad(job: SoakJob): Promise<MixedLoad> {
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => {})
  const { target, members, serviceToken } = job
  const connections = await Promise.all(members.map(() => Connection.open(target, failure.reject)))
  const users = members.map((member, client): LoadUser => ({ ...member, client, serviceToken }))
  let unique = 0

  async function drive({ seconds, perSecond }: LoadPhase): Promise<LoadPhaseOutcome> {
    const latencies: number[] = []
    const quick: number[] = []
    const callsByKind = Object.fromEntries(kindNames.map((name) => [name, 0])) as Record<
      KindName,
      number
    >
    let errors = 0
    let firstError: string | undefined
    const idle = [...connections.keys()]
    const startMs = performance.now()
    const endMs = startMs + seconds * 1000
    const total = perSecond === undefined ? Number.POSITIVE_INFINITY : perSecond * seconds
    let sent = 0
    const { promise, resolve } = Promise.withResolvers<void>()

    const sendOn = (index: number, sinceMs: number) => {
      const [connection, user] = [connections[index], users[index]]
      const name = round[unique % round.length]
      if (!connection || !user || name === undefined) return
      const kind = kindOf(name)
      callsByKind[name] += 1
      connection.send(
        kind.toRequest(user, unique++),
        (response, ms) => {
          latencies.push(ms)
          if (!kind.hashesPassword) quick.push(ms)
          if (response.status !== 200 || kind.take?.(user, response) === false) {
            errors += 1
            firstError ??= `${name}: ${response.status} ${response.body.slice(0, 200)}`
          }
          idle.push(index)
          pump()
        },
        sinceMs,
      )
    }
    const pump = () => {
      const nowMs = performance.now()
      const isOpen = () => (perSecond === undefined ? nowMs < endMs : sent < total)
      while (idle.length > 0 && isOpen()) {
        // Latency is measured from the due time, even if no connection was free.
        const dueMs = perSecond === undefined ? nowMs : startMs + (sent * 1000) / perSecond
        if (dueMs > nowMs) break
        sent += 1
        sendOn(idle.shift() ?? 0, dueMs)
      }
      if (!isOpen() && idle.length === connections.length) resolve()
    }
    const timer = setInterval(pump, tickMs)
    pump()
    try {
      await Promise.race([promise, failure.promise])
    } finally {
      clearInterval(timer)
    }
    return {
      calls: latencies.length,
      errors,
      firstError,
      seconds: (performance.now() - startMs) / 1000,
      p50Ms: toQuantile(latencies, 0.5),
      p99Ms: toQuantile(latencies, 0.99),
      quickP99Ms: toQuantile(quick, 0.99),
      callsByKind,
    }
  }
  return {
    run: drive,
    close() {
      for (const connection of connections) connection.close()
    },
  }
}
