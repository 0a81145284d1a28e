import { BodyTooLargeError, ConsoleError } from './errors.ts'

const timeoutMs = 10_000

/** The statistics of 100,000 rules have 47 MB. */
const maxAnswerBytes = 128 * 1024 * 1024

interface UpstreamOptions extends RequestInit {
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

/** Statuses whose responses have no body. */
const withoutBody = new Set([101, 204, 205, 304])

/** The same response. Reading more of its body than the limit fails, and ends the connection. */
function limitBody(response: Response, maxBytes: number): Response {
  const { body, status, statusText, headers } = response
  if (body === null || withoutBody.has(status)) return response
  let bytes = 0
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes > maxBytes) throw new BodyTooLargeError(`it sent more than ${toSize(maxBytes)}`)
        controller.enqueue(chunk)
      },
    }),
  )
  return new Response(counted, { status, statusText, headers })
}

function toSize(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`
}

/**
 * Our service tells its counters at `/stats`. The original tells there how much memory it has, and gives
 * its counters to statsd or Prometheus only: what is not told must not look like nothing.
 * @throws {ConsoleError}
 */
export function requireCounters(statistics: string): void {
  if (/^ratelimit\./m.test(statistics)) return
  const message =
    'This service does not tell its counters: envoyproxy/ratelimit gives them to statsd or Prometheus only.'
  throw new ConsoleError(502, 'no_counters', message)
}
