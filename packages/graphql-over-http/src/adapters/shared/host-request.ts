import type { Request, RequestHeaders } from '../../request.ts'

/**
 * The plain request of an adapter. Its signal is created on first access, because most requests do
 * not use it and creating one takes longer than reading a header.
 */
export class HostRequest<Raw, Context, Source> implements Request<Raw, Context> {
  readonly url: string
  readonly method: string
  readonly headers: RequestHeaders
  readonly body: Request<Raw, Context>['body']
  readonly raw: Raw
  readonly context: Context
  readonly #openSignal: (source: Source) => AbortSignal | undefined
  readonly #source: Source
  #signal: AbortSignal | undefined

  constructor(
    request: Omit<Request<Raw, Context>, 'signal'>,
    openSignal: (source: Source) => AbortSignal | undefined,
    source: Source,
  ) {
    this.url = request.url
    this.method = request.method
    this.headers = request.headers
    this.body = request.body
    this.raw = request.raw
    this.context = request.context
    this.#openSignal = openSignal
    this.#source = source
  }

  get signal(): AbortSignal | undefined {
    this.#signal ??= this.#openSignal(this.#source)
    return this.#signal
  }
}
