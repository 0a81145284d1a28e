import { limitBody } from './bounded-body.ts'
import { ConsoleError } from './error-answers.ts'

const timeoutMs = 10_000

/** The statistics of 100,000 rules have 47 MB. */
const maxAnswerBytes = 128 * 1024 * 1024

export interface UpstreamOptions extends RequestInit {
  /** How much of the body can be read. */
  readonly maxBytes?: number
}

/** Calls a server that the console looks at. @throws {ConsoleError} when it does not answer. */
export async function callUpstream(
  name: string,
  url: string | URL,
  { maxBytes = maxAnswerBytes, ...options }: UpstreamOptions = {},
): Promise<Response> {
  try {
    const answer = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...options,
    })
    return limitBody(answer, maxBytes)
  } catch (error) {
    const message = `${name} does not answer at ${new URL(url).origin}: ${toReason(error)}`
    throw new ConsoleError(502, 'upstream_unreachable', message, error)
  }
}

/** `fetch` says only that it failed; what is behind it says why. */
export function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `nothing came within ${timeoutMs / 1000} s`
  const { cause } = error
  if (cause instanceof Error && cause.message !== '') return cause.message
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : error.message
  return code
}
