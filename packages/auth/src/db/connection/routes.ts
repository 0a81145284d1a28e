import { toCode } from '@portcullis/service-kit/text/reason'
import { type ClientConfig, DatabaseError } from 'pg'
import {
  type ConnectionUrl,
  type DatabaseHost,
  toSslTries,
  toTlsOptions,
} from './connection-url.ts'
import { type ConnectionFacts, type SessionSettings, toStartupOptions } from './session-settings.ts'

/** One way to connect: a host, with or without TLS. */
export interface Route {
  readonly host: DatabaseHost
  readonly usesTls: boolean
  /** Whether our settings are sent in the startup message. */
  readonly sendsSettings: boolean
  /** With `prefer-standby`: whether a server that is not a standby is rejected. */
  readonly requiresPreferred: boolean
}

/** The server responds, but its role is not the one that the URL requires. */
class WrongServerError extends Error {
  override readonly name = 'WrongServerError'
  /** The code of PostgreSQL for a server that is read-only. */
  readonly code = '25006'
}

interface RoutesSettings {
  readonly url: ConnectionUrl
  readonly settings: SessionSettings
  /** The total time for connecting. */
  readonly timeoutMs: number
}

/**
 * The routes to a database, and which of them worked last. All connections of a process use the
 * same server. If it rejected TLS or our settings, later connections do not try them again.
 */
export class Routes {
  readonly #url: ConnectionUrl
  readonly #settings: SessionSettings
  readonly #timeoutMs: number
  readonly #known = new Map<string, Route>()
  readonly #tls: boolean[]
  #host = 0
  #sendsSettings = true
  #requiresPreferred = true

  constructor({ url, settings, timeoutMs }: RoutesSettings) {
    this.#url = url
    this.#settings = settings
    this.#timeoutMs = url.connectTimeoutMs ?? Math.ceil(timeoutMs / url.hosts.length)
    this.#tls = url.hosts.map(({ host }) => toSslTries(url.ssl.mode, host)[0] ?? false)
  }

  /** Returns the same object for the same route, so that routes can be compared by identity. */
  get current(): Route {
    const host = this.#url.hosts[this.#host] ?? { host: undefined, port: undefined }
    const usesTls = this.#tls[this.#host] ?? false
    const key = [this.#host, usesTls, this.#sendsSettings, this.#requiresPreferred].join()
    let route = this.#known.get(key)
    if (route === undefined) {
      route = {
        host,
        usesTls,
        sendsSettings: this.#sendsSettings,
        requiresPreferred: this.#requiresPreferred,
      }
      this.#known.set(key, route)
    }
    return route
  }

  toConfig(route: Route): ClientConfig {
    const { user, password, database, options, ssl } = this.#url
    const { host, port } = route.host
    const startup = toStartupOptions(options, route.sendsSettings ? this.#settings : {})
    return {
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
      ...(database !== undefined && { database }),
      ...(startup !== '' && { options: startup }),
      ssl: route.usesTls && toTlsOptions(ssl, host),
      connectionTimeoutMillis: this.#timeoutMs,
    }
  }

  /** @throws {WrongServerError} if the server does not have the role that the URL requires. */
  check({ isStandby, isReadOnly }: ConnectionFacts, route: Route): void {
    const { session } = this.#url
    const isWanted = {
      any: true,
      'read-write': !isReadOnly,
      'read-only': isReadOnly,
      primary: !isStandby,
      standby: isStandby,
      'prefer-standby': isStandby || !route.requiresPreferred,
    }[session]
    if (isWanted) return
    const name = `${route.host.host ?? 'localhost'}:${route.host.port ?? 5432}`
    const kind = isStandby ? 'a standby' : isReadOnly ? 'read-only' : 'the primary'
    throw new WrongServerError(`${name} is ${kind}, but target_session_attrs is ${session}`)
  }

  /** Selects the next route after an error, unless another connection already did. */
  leave(route: Route, error: unknown): void {
    if (route !== this.current) return
    if (refusesOptions(error)) this.#sendsSettings = false
    else if (this.#canSwitchTls(route, error)) this.#tls[this.#host] = !route.usesTls
    else if (mayDifferByHost(error)) this.#takeNextHost()
  }

  /** Adds advice to the final error. */
  explain(error: unknown): unknown {
    return this.#url.options !== '' && error instanceof Error && refusesOptions(error)
      ? new Error(
          `The server or pooler rejects the parameter "options" of the database URL (${error.message}): ` +
            'remove it from the URL and use ALTER ROLE … SET instead, or configure the pooler to accept it.',
          { cause: error },
        )
      : error
  }

  #canSwitchTls({ host, usesTls }: Route, error: unknown): boolean {
    const [first, second] = toSslTries(this.#url.ssl.mode, host.host)
    return second !== undefined && usesTls === first && isAboutTls(error)
  }

  #takeNextHost(): void {
    this.#host = (this.#host + 1) % this.#url.hosts.length
    if (this.#host === 0 && this.#url.session === 'prefer-standby')
      this.#requiresPreferred = !this.#requiresPreferred
  }
}

/** PgBouncer (08P01) and RDS Proxy (0A000) do not support `options`. */
function refusesOptions(error: unknown): boolean {
  return (
    error instanceof DatabaseError &&
    /startup (?:parameter|option|packet)|command-line option/i.test(error.message)
  )
}

/**
 * Whether a connection may succeed if TLS is switched on or off: TLS itself failed, or PostgreSQL
 * accepts only the other kind of connection (28000). As in libpq, a wrong password is not sent twice.
 */
function isAboutTls(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === '28000'
  const code = toCode(error)
  if (code === '') return error instanceof Error && /SSL/.test(error.message)
  return /^(?:ERR_|EPROTO$)|CERT|UNABLE/.test(code)
}

/**
 * Whether another host may succeed. A wrong password or a missing database is the same on all of
 * them.
 */
function mayDifferByHost(error: unknown): boolean {
  return !(error instanceof DatabaseError) || !/^(?:28|3D)/.test(error.code ?? '')
}
