import { toReason } from '@portcullis/service-kit/text/reason'
import { BodyTooLargeError, ConsoleError } from './errors.ts'

const timeoutMs = 10_000

/** The statistics of 100,000 rules take 47 MB. */
const maxAnswerBytes = 128 * 1024 * 1024

interface UpstreamOptions extends RequestInit {
  /** The maximum number of body bytes to read. */
  readonly maxBytes?: number
}

/** Calls a server that the console shows. @throws {ConsoleError} if it does not respond. */
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
    const message = `${name} does not respond at ${new URL(url).origin}: ${toFetchReason(error)}. Check that it is running at this URL.`
    throw new ConsoleError(502, 'upstream_unreachable', message, error)
  }
}

/** The message of `fetch` is generic; its cause has the reason. */
export function toFetchReason(error: unknown): string {
  const { name, cause } = error instanceof Error ? error : {}
  return name === 'TimeoutError'
    ? `no response within ${timeoutMs / 1000} s`
    : toReason(cause instanceof Error ? cause : error)
}

/** Statuses whose responses have no body. */
const withoutBody = new Set([101, 204, 205, 304])

/** Returns the same response. Reading more than the limit fails and closes the connection. */
function limitBody(response: Response, maxBytes: number): Response {
  const { body, status, statusText, headers } = response
  if (body === null || withoutBody.has(status)) return response
  let bytes = 0
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes > maxBytes) throw new BodyTooLargeError(`it has more than ${toSize(maxBytes)}`)
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
 * Portcullis reports its counters at `/stats`. envoyproxy/ratelimit sends them only to statsd or Prometheus,
 * and the console must not show missing counters as zero.
 * @throws {ConsoleError}
 */
export function requireCounters(statistics: string): void {
  if (/^ratelimit\./m.test(statistics)) return
  const message =
    'This service does not report its counters at /stats: envoyproxy/ratelimit sends them to statsd or Prometheus only.'
  throw new ConsoleError(502, 'no_counters', message)
}
