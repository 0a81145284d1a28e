import { createHmac } from 'node:crypto'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestTls } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent as HttpAgent, request } from '@portcullis/service-kit/http'
import { toCode } from '@portcullis/service-kit/text/reason'
import { ApiError } from '../../errors.ts'
import { createGuardedLookup, type ResolvedAddress } from '../../outgoing/guarded-fetch.ts'
import { OutgoingError, readLimited } from '../../outgoing/http-client.ts'
import { type Transport, toHookError, toTimeout } from './hook.ts'
import type { HttpTarget } from './uri.ts'

export interface HttpLimits {
  /** Total for all attempts. */
  readonly totalMs: number
  readonly tries: number
  readonly pauseMs: number
  readonly maxBytes: number
}

export interface HttpTransportParts {
  readonly target: HttpTarget
  /** In base64. */
  readonly secrets: readonly string[]
  readonly now: () => number
  readonly limits?: Partial<HttpLimits>
  /** Default: DNS. Tests replace it. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>
  /** Additional certificate authorities to trust, as PEM. Used by tests. */
  readonly ca?: string
}

const defaultLimits: HttpLimits = { totalMs: 5_000, tries: 3, pauseMs: 2_000, maxBytes: 204_800 }

/** Posts a signed payload to an address that has been checked. Redirects are not followed. */
export function createHttpTransport(parts: HttpTransportParts): Transport {
  const { target, now, resolve, ca } = parts
  const limits = { ...defaultLimits, ...parts.limits }
  const secrets = parts.secrets.map((secret) => Buffer.from(secret, 'base64'))
  const url = new URL(target.url)
  const lookup = createGuardedLookup(target.isInternalAllowed, resolve)
  // Connections are kept alive: a hook may run at every sign-in, and a TLS handshake costs more
  // than the call.
  const [agent, open] =
    url.protocol === 'https:'
      ? [new HttpsAgent({ keepAlive: true, ...(ca !== undefined && { ca }) }), requestTls]
      : [new HttpAgent({ keepAlive: true }), request]

  const post = async (body: string, id: string, signal: AbortSignal): Promise<HookResponse> => {
    const timestamp = Math.floor(now() / 1_000)
    const outgoing = open(url, {
      method: 'POST',
      agent,
      lookup,
      signal,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'portcullis-auth',
        'webhook-id': id,
        'webhook-timestamp': `${timestamp}`,
        ...(secrets.length > 0 && {
          'webhook-signature': toSignature(secrets, { id, timestamp, body }),
        }),
      },
    })
    try {
      return await read(await send(outgoing, body), limits.maxBytes)
    } catch (error) {
      // The receiver has closed an idle connection, so this does not count as an attempt.
      if (outgoing.reusedSocket && toCode(error) === 'ECONNRESET')
        return await post(body, id, signal)
      throw error
    }
  }

  return async (payload, id, stopped) => {
    const body = JSON.stringify(payload)
    const timeout = AbortSignal.timeout(limits.totalMs)
    const signal = stopped === undefined ? timeout : AbortSignal.any([timeout, stopped])
    try {
      let failure: unknown
      for (let tries = 1; tries <= limits.tries; tries++) {
        if (tries > 1) await sleep(limits.pauseMs, undefined, { signal })
        const response = await post(body, id, signal).catch((error: unknown) => {
          failure = toFailure(error, signal)
          return undefined
        })
        if (response !== undefined && !response.isRetryRequested) return toBody(response)
      }
      throw new ApiError('hook_timeout_after_retry', 'Failed to reach hook after maximum retries', {
        cause: failure,
      })
    } catch (error) {
      if (signal.aborted) throw toTimeout(limits.totalMs, error)
      throw error
    }
  }
}

interface HookResponse {
  readonly status: number
  readonly contentType: string
  readonly text: string
  /** Whether the receiver is busy and requests a retry (`Retry-After`). */
  readonly isRetryRequested: boolean
}

async function send(outgoing: ClientRequest, body: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  outgoing.on('error', reject)
  outgoing.on('response', resolve)
  outgoing.end(body)
  return await promise
}

async function read(response: IncomingMessage, maxBytes: number): Promise<HookResponse> {
  const { statusCode: status = 0, headers } = response
  const isBusy = status === 429 || status === 503
  const text = await readLimited(response, maxBytes)
  if (text === undefined) {
    const message = `Payload size exceeded size limit of ${maxBytes} bytes`
    throw new ApiError('hook_payload_over_size_limit', message)
  }
  return {
    status,
    contentType: headers['content-type'] ?? '',
    text,
    isRetryRequested: isBusy && headers['retry-after'] !== undefined,
  }
}

/** Returns an error after which a retry makes sense. @throws errors that a retry would not fix. */
function toFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof ApiError) throw error
  if (error instanceof OutgoingError)
    throw toHookError('Hook is at an address that is not permitted', error)
  return error
}

const problems: Readonly<Record<number, string>> = {
  400: 'Invalid payload sent to hook',
  401: 'Hook requires authorization token',
  429: 'Service currently unavailable due to hook',
  503: 'Service currently unavailable due to hook',
}

function toBody({ status, contentType, text }: HookResponse): unknown {
  if (status === 204) return undefined
  if (status !== 200 && status !== 202) {
    throw toHookError(problems[status] ?? `Unexpected status code returned from hook: ${status}`)
  }
  if (!/^application\/json\s*(?:;|$)/i.test(contentType.trim())) {
    throw new ApiError(
      'hook_payload_invalid_content_type',
      `Invalid JSON response. Received content-type: ${contentType}`,
    )
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw toHookError('Hook must answer with a JSON object', error)
  }
}

interface SignedRequest {
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  readonly body: string
}

/** Standard Webhooks: one signature per secret, so that secrets can be rotated without downtime. */
function toSignature(secrets: readonly Buffer[], request: SignedRequest): string {
  const signed = `${request.id}.${request.timestamp}.${request.body}`
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
    .join(' ')
}
