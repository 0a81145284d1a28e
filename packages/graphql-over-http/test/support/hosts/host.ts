import type { Findings } from './probe.ts'

/** A server, or what stands in for one, with every scenario mounted on the path of its name. */
export interface OpenHost {
  /** Scheme, host and port. */
  readonly origin: string
  readonly fetch: typeof fetch
  /** Where bytes can be sent by hand; 0 when there is no network in between. */
  readonly port: number
  /** What the server has to say since the last time. */
  take(): Promise<Findings>
  /** How many connections are open, where that can be asked. */
  connections?(): Promise<number>
  close(): Promise<void>
}

/** What a host cannot do, and why that is not ours to change. */
export interface Limits {
  /** Has received the body, with limits of its own, before the handler is called. */
  readonly readsBodyItself?: string
  /** Answers bad JSON, a missing body or an unknown content type before the handler sees them. */
  readonly parsesBodyItself?: string
  /** Hands the body out as text. */
  readonly decodesBodyItself?: string
  /** Has no status text, or does not send it. */
  readonly noStatusText?: string
  /** Offers no native response to set headers on. */
  readonly noResponseHandle?: string
  /** Leaves the content length to whatever carries the answer. */
  readonly noContentLength?: string
}

export interface Host {
  readonly name: string
  /** How bytes get there, if they have to. */
  readonly transport: 'HTTP/1' | 'HTTP/2' | 'none'
  readonly limits?: Limits
  open(): Promise<OpenHost>
}
