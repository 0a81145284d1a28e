import { ConsoleError } from './error-answers.ts'

const timeoutMs = 10_000

/** Calls a server that the console looks at. @throws {ConsoleError} when it does not answer. */
export async function callUpstream(
  name: string,
  url: string | URL,
  options: RequestInit = {},
): Promise<Response> {
  try {
    return await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...options,
    })
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
