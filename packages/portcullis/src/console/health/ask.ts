import { ConsoleError } from '../error-answers.ts'
import { callUpstream, toReason } from '../upstream.ts'
import type { PartHealth } from './part-health.ts'

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
