import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from './log.ts'

export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP'
const signalNumbers: Readonly<Record<StopSignal, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }
const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** What a service has to do with its process. */
export interface LifecycleProcess {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown
  off(signal: StopSignal, listener: (signal: StopSignal) => void): unknown
  exit(code: number): void
}

export interface LifecycleSettings {
  readonly log: Log
  readonly process: LifecycleProcess
  /** After SIGTERM, how long to serve on while load balancers learn that we go. */
  readonly drainDelayMs: number
  /** How long all the drain steps together may take. */
  readonly drainTimeoutMs: number
  /** How long closing what is owned may take. */
  readonly closeTimeoutMs?: number
}

/** Ends work in progress. It should give up waiting when `expired` fires. */
export type DrainStep = (expired: AbortSignal) => Promise<void> | void

/**
 * From the first resource to the exit code. A signal stops in this order: `stopping` fires, the
 * drain delay passes (SIGTERM only), the drain steps run one after the other, what is owned is
 * closed, the last opened first. A second signal ends the process at once.
 */
export interface Lifecycle {
  /** Fires when the service has to stop, also while it still starts. Its reason is the signal. */
  readonly stopping: AbortSignal
  /** The exit code, once everything is closed. */
  readonly ended: Promise<number>
  /** Closes the resource in the end, before those that were there before it. */
  own<Resource extends AsyncDisposable | Disposable>(name: string, resource: Resource): Resource
  /** Steps run in the order they were added in. */
  drain(name: string, step: DrainStep): void
  /** As if the signal had come, which nobody has to be told. Only the first call has an effect. */
  stop(signal: StopSignal): void
  /** The service cannot go on: closes everything, without draining, and ends with 1. */
  fail(error: unknown): void
}

interface Named<Value> {
  readonly name: string
  readonly value: Value
}

export function openLifecycle(settings: LifecycleSettings): Lifecycle {
  const { log, process, drainDelayMs, drainTimeoutMs, closeTimeoutMs = 15_000 } = settings
  const stopping = new AbortController()
  const failing = new AbortController()
  const ended = Promise.withResolvers<number>()
  const owned: Named<AsyncDisposable | Disposable>[] = []
  const steps: Named<DrainStep>[] = []
  let exitCode = 0

  const onSignal = (signal: StopSignal): void => {
    if (!stopping.signal.aborted) {
      log.warning(`Received ${signal}: stopping`)
      stop(signal)
    } else {
      log.warning(`Received ${signal} again: ending at once`)
      process.exit(128 + signalNumbers[signal])
    }
  }
  const stop = (signal: StopSignal): void => {
    if (stopping.signal.aborted) return
    stopping.abort(signal)
    void drainAndClose(signal)
  }
  const fail = (error: unknown): void => {
    log.fatal(toText(error))
    exitCode = 1
    failing.abort()
    if (stopping.signal.aborted) return
    stopping.abort(error)
    void close()
  }

  const drainAndClose = async (signal: StopSignal): Promise<void> => {
    const isDelayed = signal === 'SIGTERM' && drainDelayMs > 0
    if (isDelayed) await pause(drainDelayMs, failing.signal)
    const deadline = openDeadline(drainTimeoutMs, failing.signal)
    for (const { name, value: step } of steps) {
      const outcome = await settle(() => step(deadline.expired), deadline.expired)
      if (outcome === 'expired') {
        log.warning(`${name} did not drain within ${drainTimeoutMs} ms: closing it as it is`)
      } else if (outcome !== undefined) {
        log.error(`${name} did not drain: ${toText(outcome.error)}`)
        exitCode = 1
      }
    }
    deadline.close()
    await close()
  }
  const close = async (): Promise<void> => {
    const deadline = openDeadline(closeTimeoutMs)
    // What is opened while others close is closed as well.
    for (let last = owned.pop(); last !== undefined; last = owned.pop()) {
      const { name, value } = last
      const outcome = await settle(() => dispose(value), deadline.expired)
      if (outcome === undefined) continue
      const reason = outcome === 'expired' ? 'it took too long' : toText(outcome.error)
      log.error(`${name} did not close: ${reason}`)
      exitCode = 1
    }
    deadline.close()
    for (const signal of stopSignals) process.off(signal, onSignal)
    ended.resolve(exitCode)
  }

  for (const signal of stopSignals) process.on(signal, onSignal)
  return {
    stopping: stopping.signal,
    ended: ended.promise,
    own(name, resource) {
      owned.push({ name, value: resource })
      return resource
    },
    drain(name, step) {
      steps.push({ name, value: step })
    },
    stop,
    fail,
  }
}

async function dispose(resource: AsyncDisposable | Disposable): Promise<void> {
  if (Symbol.asyncDispose in resource) await resource[Symbol.asyncDispose]()
  else resource[Symbol.dispose]()
}

/** Timers count in 31 bits. */
const longestTimerMs = 2 ** 31 - 1

async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  const length = Math.min(delayMs, longestTimerMs)
  await sleep(length, undefined, { signal }).catch(() => undefined)
}

/** Unlike `AbortSignal.timeout`, its timer keeps the process alive: somebody waits for it. */
function openDeadline(timeoutMs: number, orWhen?: AbortSignal) {
  const controller = new AbortController()
  const expire = () => controller.abort()
  const timer = setTimeout(expire, Math.min(timeoutMs, longestTimerMs))
  if (orWhen?.aborted) expire()
  orWhen?.addEventListener('abort', expire, { once: true })
  const close = () => clearTimeout(timer)
  return { expired: controller.signal, close }
}

/** Undefined when it went well in time. */
async function settle(
  run: () => Promise<void> | void,
  expired: AbortSignal,
): Promise<'expired' | { readonly error: unknown } | undefined> {
  const done = (async () => run())().then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  // What is too late already still gets one turn to end by itself.
  if (expired.aborted) return Promise.race([done, sleep(0, 'expired' as const)])
  const { promise, resolve } = Promise.withResolvers<'expired'>()
  const onExpired = () => resolve('expired')
  expired.addEventListener('abort', onExpired, { once: true })
  try {
    return await Promise.race([done, promise])
  } finally {
    expired.removeEventListener('abort', onExpired)
  }
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
