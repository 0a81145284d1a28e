import { ConsoleError } from '../errors.ts'
import { callUpstream, toReason } from '../upstream.ts'

export type PartName = 'console' | 'auth' | 'ratelimit' | 'graphql' | 'mailbox'

/** How one part is doing. */
export interface PartHealth {
  /** Troubled: it answers, but not all is well. */
  readonly state: 'up' | 'troubled' | 'down'
  /** What it calls itself, where it says so. */
  readonly product?: string | undefined
  readonly version?: string | undefined
  /** Where it is, when nothing else says so. */
  readonly address?: string | undefined
  /** How long it took to answer. */
  readonly latencyMs?: number | undefined
  /** What is wrong, or worth knowing. */
  readonly detail?: string | undefined
  /** Milliseconds since the epoch, where it tells. */
  readonly startedAt?: number | undefined
  /** How many users an auth server has. */
  readonly users?: number | undefined
}

/** Asks a part how it is doing; never rejects. */
export type CheckPart = (signal?: AbortSignal) => Promise<PartHealth>

const timeoutMs = 5_000

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly latencyMs: number
}

/** Asks a server once, with less patience than a person who waits for a page. */
export async function ask(
  name: string,
  url: string,
  { signal, ...options }: RequestInit = {},
): Promise<Answer> {
  const late = AbortSignal.timeout(timeoutMs)
  const startedAt = performance.now()
  const answer = await callUpstream(name, url, {
    ...options,
    signal: signal ? AbortSignal.any([signal, late]) : late,
  })
  const latencyMs = performance.now() - startedAt
  return { status: answer.status, headers: answer.headers, text: await answer.text(), latencyMs }
}

/** @returns undefined for what is no JSON object. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : undefined
  } catch {
    return undefined
  }
}

/** Without its name and address: whoever reads this has them before their eyes. */
export function toDown(error: unknown): PartHealth {
  const reason = error instanceof ConsoleError ? error.cause : error
  return { state: 'down', detail: toReason(reason) }
}
