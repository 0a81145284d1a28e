import { toReason } from '@portcullis/service-kit/text/reason'
import type { JWTPayload } from 'jose'
import { AuthUnavailableError, TokenError } from '../errors.ts'
import { readEvents, type ServerEvent } from './event-stream.ts'
import type { RevocationOptions, RevocationState } from './options.ts'
import { RevocationList } from './revocation-list.ts'

/** How long the first token waits for the revocations. */
const firstWaitMs = 5_000
const shortestPauseMs = 100
const longestPauseMs = 5_000

/** The auth server has refused the request, or its response is not what was expected. */
class FeedError extends Error {}

/** Receives revocations from an auth server, from the first token until it is closed. */
export class RemoteRevocations {
  readonly #url: URL
  readonly #options: RevocationOptions
  readonly #maxSilenceMs: number
  readonly #list = new RevocationList()
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined
  #current = Promise.withResolvers<void>()
  #lastId: string | undefined
  /** When the last event arrived by which all revocations were known. */
  #currentMs: number | undefined
  #eventMs: number | undefined
  /** The clock of the auth server minus `performance.now()`; undefined if it did not send its time. */
  #clockMs: number | undefined
  #failure = 'it has not responded yet'
  #isReported = false
  #connections = 0
  #refused = 0

  constructor(url: URL, options: RevocationOptions) {
    this.#url = url
    this.#options = options
    this.#maxSilenceMs = (options.maxSilenceSeconds ?? 5) * 1_000
  }

  get state(): RevocationState {
    return {
      isCurrent: this.#isCurrent,
      entries: this.#list.size,
      refused: this.#refused,
      connections: this.#connections,
      silenceMs: this.#eventMs === undefined ? undefined : performance.now() - this.#eventMs,
    }
  }

  /**
   * @param nowSeconds the time by which tokens expire.
   * @throws {TokenError} if the token has been revoked.
   * @throws {AuthUnavailableError} if that is not known.
   */
  async check(claims: JWTPayload, nowSeconds: number): Promise<void> {
    if (!this.#isCurrent) await this.#waitUntilCurrent()
    if (this.#list.isRevoked(claims)) {
      this.#refused += 1
      throw new TokenError(
        'revoked_token',
        'The session of the token has ended, or its key was revoked',
      )
    }
    const { keptMs } = this.#list
    // By the clock of the auth server, so that no difference between clocks has to be tolerated: the token may end with
    // its session.
    const serverMs = this.#clockMs === undefined ? 0 : this.#clockMs + performance.now()
    if (this.#isCurrent && claims.exp !== undefined && claims.exp * 1_000 <= serverMs)
      throw new TokenError(
        'expired_token',
        'The token has expired: refresh the session to get a new one',
      )
    if (claims.iat === undefined)
      throw new TokenError(
        'missing_claim',
        'The token has no claim "iat", so it is not known whether it has been revoked',
      )
    if (keptMs === undefined || nowSeconds - claims.iat <= keptMs / 1_000) return
    throw new TokenError(
      'expired_token',
      'The token was issued longer ago than the auth server remembers revocations: ' +
        'set AUTH_REVOCATIONS_RETENTION on the auth server to the longest lifetime of tokens',
    )
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  get #isCurrent(): boolean {
    return (
      this.#currentMs !== undefined && performance.now() - this.#currentMs <= this.#maxSilenceMs
    )
  }

  async #waitUntilCurrent(): Promise<void> {
    const isFirst = this.#running === undefined
    this.#running ??= this.#run()
    // Only requests at the start wait. During an outage, requests are answered at once.
    if (isFirst || this.#connections <= 1) {
      await Promise.race([this.#current.promise, elapsed(firstWaitMs, this.#closing.signal)])
    }
    if (this.#isCurrent) return
    const message = `No revocations from ${this.#url.href}: ${this.#failure}`
    this.#report(message)
    if (this.#options.ifUnavailable !== 'allow') throw new AuthUnavailableError(message)
  }

  /** Once for each outage. */
  #report(message: string): void {
    const { warn = console.warn } = this.#options
    if (this.#isReported || warn === false) return
    this.#isReported = true
    warn(message)
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    let pauseMs = shortestPauseMs
    while (!signal.aborted) {
      const startMs = performance.now()
      try {
        await this.#connect()
        this.#failure = 'it closed the connection'
      } catch (error) {
        if (!signal.aborted) this.#failure = describeFailure(error)
      }
      this.#current.resolve()
      // A connection that worked is opened again at once.
      if ((this.#currentMs ?? 0) > startMs) pauseMs = shortestPauseMs
      await elapsed(pauseMs * (0.5 + Math.random()), signal)
      pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    }
  }

  async #connect(): Promise<void> {
    this.#connections += 1
    const silence = new AbortController()
    const abort = () => silence.abort(new FeedError('it has stopped sending events'))
    let timer = setTimeout(abort, this.#maxSilenceMs)
    const { key } = this.#options
    try {
      const response = await fetch(this.#url, {
        headers: {
          accept: 'text/event-stream',
          authorization: `Bearer ${typeof key === 'function' ? await key() : key}`,
          ...(this.#lastId !== undefined && { 'last-event-id': this.#lastId }),
        },
        redirect: 'error',
        signal: AbortSignal.any([this.#closing.signal, silence.signal]),
      })
      for await (const event of readEvents(toBody(response))) {
        clearTimeout(timer)
        timer = setTimeout(abort, this.#maxSilenceMs)
        this.#take(event)
      }
    } finally {
      clearTimeout(timer)
      // Also closes the connection of a response that was not read.
      silence.abort()
    }
  }

  #take({ name, data, lastId }: ServerEvent): void {
    const nowMs = performance.now()
    this.#eventMs = nowMs
    if (name === 'settings') {
      const { retention_seconds: seconds } = JSON.parse(data)
      // Without it, entries would be removed at once.
      if (!(Number.isFinite(seconds) && seconds > 0))
        throw new FeedError(`it sent an invalid retention: ${seconds}`)
      this.#list.keptMs = seconds * 1_000
    } else if (name === 'revocations') {
      this.#list.add(JSON.parse(data), nowMs)
      this.#lastId = lastId
    } else if (name === 'current') {
      this.#currentMs = nowMs
      const { time } = JSON.parse(data)
      this.#clockMs = Number.isFinite(time) ? time * 1_000 - nowMs : undefined
      this.#isReported = false
      this.#list.add([], nowMs)
      this.#current.resolve()
    }
  }
}

/** @throws {FeedError} */
function toBody(response: Response): ReadableStream<Uint8Array> {
  const { status, headers, body } = response
  if (status === 401 || status === 403)
    throw new FeedError(
      `it refused the key with status ${status}. Is "revocation.key" a token with the role token_verifier, or a service key?`,
    )
  if (status === 404)
    throw new FeedError(
      'it responded with status 404. Does "authUrl" lack the path of the auth server, such as /auth/v1?',
    )
  if (status !== 200) throw new FeedError(`it responded with status ${status}`)
  if (body === null || !headers.get('content-type')?.startsWith('text/event-stream'))
    throw new FeedError('it did not respond with events. Is "authUrl" the address of the server?')
  return body
}

/** `fetch` reports the reason in the cause of its error. */
function describeFailure(error: unknown): string {
  if (error instanceof FeedError) return error.message
  return toReason((error as Error).cause ?? error)
}

/** Resolves after this time, or when the signal is aborted. */
async function elapsed(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
