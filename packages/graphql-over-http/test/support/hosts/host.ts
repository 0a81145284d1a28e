import type { Findings } from './probe.ts'

/** A server, or a substitute for one, with every scenario mounted on the path of its name. */
export interface OpenHost {
  /** Scheme, host and port. */
  readonly origin: string
  readonly fetch: typeof fetch
  /** For sending raw bytes; 0 when there is no network in between. */
  readonly port: number
  /** The findings of the server since the last call. */
  take(): Promise<Findings>
  /** The number of open connections, on hosts that can count them. */
  connections?(): Promise<number>
  close(): Promise<void>
}

/** What a host cannot do, and why the adapter cannot change that. */
export interface Limits {
  /** Receives the body, with its own limits, before the handler is called. */
  readonly readsBodyItself?: string
  /** Answers bad JSON, a missing body or an unknown content type before the handler sees them. */
  readonly parsesBodyItself?: string
  /** Passes the body on as text. */
  readonly decodesBodyItself?: string
  /** Has no status text, or does not send it. */
  readonly noStatusText?: string
  /** Offers no native response to set headers on. */
  readonly noResponseHandle?: string
  /** Leaves the content length to the transport. */
  readonly noContentLength?: string
}

export interface Host {
  readonly name: string
  /** How requests are transported. */
  readonly transport: 'HTTP/1' | 'HTTP/2' | 'none'
  readonly limits?: Limits
  open(): Promise<OpenHost>
}
