import type { ClientRequest, Agent as HttpAgent } from 'node:http'
import { request as sendHttps, Agent as TlsAgent } from 'node:https'
import { Agent, request as sendHttp } from '@portcullis/service-kit/http'
import { StoreError } from '../counters/counter-store.ts'
import { ServiceError } from '../decide/decision.ts'
import type { RateLimitRequest } from '../protocol/message.ts'

/** The parts of a response of the service that are used here. */
export interface ServiceAnswer {
  readonly overallCode?: string
  readonly statuses?: readonly ServiceStatus[]
}

export interface ServiceStatus {
  readonly code?: string
  readonly currentLimit?: { readonly requestsPerUnit?: number; readonly unit?: string }
  readonly limitRemaining?: number
  /** For example `34s`. */
  readonly durationUntilReset?: string
}

/** The service never sends a larger response. */
const mostAnswerBytes = 16 * 1024 * 1024

/** Calls `/json` of a rate limit service over persistent connections. */
export class ServiceClient {
  readonly #url: URL
  readonly #headers: Readonly<Record<string, string>>
  readonly #agent: HttpAgent
  readonly #send: typeof sendHttp

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.#url = url
    this.#headers = headers
    const isTls = url.protocol === 'https:'
    // The process can exit while such connections are idle.
    this.#agent = isTls ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
    this.#send = isTls ? sendHttps : sendHttp
  }

  /**
   * Rejects with a `ServiceError` if the service refuses the request, and with a `StoreError` for other
   * failures.
   */
  call(request: RateLimitRequest, timeoutMs: number): Promise<ServiceAnswer> {
    const body = JSON.stringify(toJson(request))
    return new Promise((resolve, reject) => {
      let sent: ClientRequest | undefined
      const fail = (reason: string, cause?: unknown) => {
        clearTimeout(timer)
        sent?.destroy()
        reject(new StoreError(`the rate limit service ${reason}`, { cause }))
      }
      const timer = setTimeout(() => fail(`did not answer within ${timeoutMs} ms`), timeoutMs)
      const headers = {
        ...this.#headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }
      sent = this.#send(this.#url, { method: 'POST', agent: this.#agent, headers })
      sent.on('error', (error) => fail(`cannot be reached: ${error.message}`, error))
      sent.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => {
          text += piece
          if (text.length > mostAnswerBytes) fail('sent a response that is too large')
        })
        response.on('error', (error) => fail(`aborted its response: ${error.message}`, error))
        response.on('end', () => {
          clearTimeout(timer)
          try {
            resolve(parseAnswer(response.statusCode ?? 0, text))
          } catch (error) {
            reject(error)
          }
        })
      })
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

function parseAnswer(status: number, text: string): ServiceAnswer {
  if (status === 200 || status === 429) {
    try {
      return JSON.parse(text)
    } catch (error) {
      const reason = 'the rate limit service did not return JSON: check its URL'
      throw new StoreError(reason, { cause: error })
    }
  }
  if (status === 400) {
    const hint = 'it has no rules, or the domain or descriptors are empty'
    throw new ServiceError(`the rate limit service refused the request: ${hint}`)
  }
  const hint = status === 404 ? ': check that its URL ends in /json' : ''
  throw new StoreError(`the rate limit service answered with status ${status}${hint}`)
}

function toJson({ domain, descriptors, hitsAddend }: RateLimitRequest): unknown {
  return {
    domain,
    hitsAddend,
    descriptors: descriptors.map(({ entries, limit, hitsAddend: hits, isNegativeHits }) => ({
      entries,
      limit,
      // In JSON, protobuf encodes 64-bit numbers as strings.
      hitsAddend: hits === undefined ? undefined : `${hits}`,
      isNegativeHits,
    })),
  }
}
