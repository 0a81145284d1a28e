import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log/log.ts'
import { toMessage } from '../text/reason.ts'

export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP'
const signalNumbers: Readonly<Record<StopSignal, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }
const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** The part of `process` that a service uses. */
export interface LifecycleProcess {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown
  off(signal: StopSignal, listener: (signal: StopSignal) => void): unknown
  exit(code: number): void
}

export interface LifecycleSettings {
  readonly log: Log
  readonly process: LifecycleProcess
  /** How long to keep serving after SIGTERM, while load balancers remove the server. */
  readonly drainDelayMs: number
  /** The time limit for all drain steps together. */
  readonly drainTimeoutMs: number
  /** The time limit for closing the owned resources. */
  readonly closeTimeoutMs?: number
  /**
   * Called for SIGHUP until the service stops. Returns whether it has handled the signal, for
   * example by reloading the configuration. Default: SIGHUP stops the service.
   */
  readonly onHangup?: () => boolean
}

/** Finishes work in progress. It should stop waiting when `expired` fires. */
export type DrainStep = (expired: AbortSignal) => Promise<void> | void

/**
 * Manages a service from its first resource to the exit code. A signal stops the service in this
 * order: `stopping` fires, the drain delay passes (SIGTERM only), the drain steps run one after the
 * other, and the owned resources are closed, the last opened first. A second signal ends the
 * process immediately.
 */
export interface Lifecycle {
  /** Fires when the service must stop, also during its start. Its reason is the signal. */
  readonly stopping: AbortSignal
  /** Resolves to the exit code once everything is closed. */
  readonly ended: Promise<number>
  /** Registers a resource to close at the end; resources are closed in reverse order. */
  own<Resource extends AsyncDisposable | Disposable>(name: string, resource: Resource): Resource
  /** Adds a drain step. Steps run in the order in which they were added. */
  drain(name: string, step: DrainStep): void
  /**
   * Stops the service as the signal would, without logging it. Only the first call has an effect.
   */
  stop(signal: StopSignal): void
  /** Closes everything without draining and ends with exit code 1, after an unrecoverable error. */
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
    if (signal === 'SIGHUP' && !stopping.signal.aborted && settings.onHangup?.()) return
    if (!stopping.signal.aborted) {
      log.warning(`Received ${signal}: stopping`)
      stop(signal)
    } else {
      log.warning(`Received ${signal} again: exiting immediately`)
      process.exit(128 + signalNumbers[signal])
    }
  }
  const stop = (signal: StopSignal): void => {
    if (stopping.signal.aborted) return
    stopping.abort(signal)
    void drainAndClose(signal)
  }
  const fail = (error: unknown): void => {
    log.fatal(toMessage(error))
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
        log.warning(`${name} did not drain within ${drainTimeoutMs} ms: closing it anyway`)
      } else if (outcome !== undefined) {
        log.error(`${name} did not drain: ${toMessage(outcome.error)}`)
        exitCode = 1
      }
    }
    deadline.close()
    await close()
  }
  const close = async (): Promise<void> => {
    const deadline = openDeadline(closeTimeoutMs)
    // Resources that are opened during the shutdown are closed as well.
    for (let last = owned.pop(); last !== undefined; last = owned.pop()) {
      const { name, value } = last
      const outcome = await settle(() => dispose(value), deadline.expired)
      if (outcome === undefined) continue
      const reason = outcome === 'expired' ? 'it took too long' : toMessage(outcome.error)
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

/** Timers have 31-bit delays. */
const longestTimerMs = 2 ** 31 - 1

async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  const length = Math.min(delayMs, longestTimerMs)
  await sleep(length, undefined, { signal }).catch(() => undefined)
}

/**
 * Unlike `AbortSignal.timeout`, its timer keeps the process alive, because the shutdown waits for
 * it.
 */
function openDeadline(timeoutMs: number, orWhen?: AbortSignal) {
  const controller = new AbortController()
  const expire = () => controller.abort()
  const timer = setTimeout(expire, Math.min(timeoutMs, longestTimerMs))
  if (orWhen?.aborted) expire()
  orWhen?.addEventListener('abort', expire, { once: true })
  const close = () => clearTimeout(timer)
  return { expired: controller.signal, close }
}

/** Returns undefined if the work succeeded in time. */
async function settle(
  run: () => Promise<void> | void,
  expired: AbortSignal,
): Promise<'expired' | { readonly error: unknown } | undefined> {
  const done = (async () => run())().then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  // Work that is already too late still gets one turn to finish.
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
