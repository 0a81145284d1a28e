import { type ClientConfig, DatabaseError } from 'pg'
import {
  type ConnectionUrl,
  type DatabaseHost,
  toSslTries,
  toTlsOptions,
} from './connection-url.ts'
import { type ConnectionFacts, type SessionSettings, toStartupOptions } from './session-settings.ts'

/** One way to connect. */
export interface Route {
  readonly host: DatabaseHost
  readonly usesTls: boolean
  /** Whether our settings are part of the start of the connection. */
  readonly sendsSettings: boolean
  /** Whether a server is refused that is only the second choice (`prefer-standby`). */
  readonly isChoosy: boolean
}

/** The server answers, but is not one that may be used. */
class WrongServerError extends Error {
  override readonly name = 'WrongServerError'
  /** That of PostgreSQL for a server that does not take writes. */
  readonly code = '25006'
}

interface RoutesSettings {
  readonly url: ConnectionUrl
  readonly settings: SessionSettings
  /** How long connecting may take in all. */
  readonly timeoutMs: number
}

/**
 * The ways to a database, and which of them worked last: all connections of a process go to the same
 * server, and one that refuses TLS or our settings is not asked for them again.
 */
export class Routes {
  readonly #url: ConnectionUrl
  readonly #settings: SessionSettings
  readonly #timeoutMs: number
  readonly #known = new Map<string, Route>()
  readonly #tls: boolean[]
  #host = 0
  #sendsSettings = true
  #isChoosy = true

  constructor({ url, settings, timeoutMs }: RoutesSettings) {
    this.#url = url
    this.#settings = settings
    this.#timeoutMs = url.connectTimeoutMs ?? Math.ceil(timeoutMs / url.hosts.length)
    this.#tls = url.hosts.map(({ host }) => toSslTries(url.ssl.mode, host)[0] ?? false)
  }

  /** The same object for the same way, so that ways can be compared. */
  get current(): Route {
    const host = this.#url.hosts[this.#host] ?? { host: undefined, port: undefined }
    const usesTls = this.#tls[this.#host] ?? false
    const key = [this.#host, usesTls, this.#sendsSettings, this.#isChoosy].join()
    let route = this.#known.get(key)
    if (route === undefined) {
      route = { host, usesTls, sendsSettings: this.#sendsSettings, isChoosy: this.#isChoosy }
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

  /** @throws {WrongServerError} where the server is not the kind that the URL asks for. */
  check({ isStandby, isReadOnly }: ConnectionFacts, route: Route): void {
    const { session } = this.#url
    const isWanted = {
      any: true,
      'read-write': !isReadOnly,
      'read-only': isReadOnly,
      primary: !isStandby,
      standby: isStandby,
      'prefer-standby': isStandby || !route.isChoosy,
    }[session]
    if (isWanted) return
    const name = `${route.host.host ?? 'localhost'}:${route.host.port ?? 5432}`
    const kind = isStandby ? 'a standby' : isReadOnly ? 'read-only' : 'the primary'
    throw new WrongServerError(`${name} is ${kind}, and target_session_attrs is ${session}`)
  }

  /** Takes the next way after an error, unless another connection has left this one already. */
  leave(route: Route, error: unknown): void {
    if (route !== this.current) return
    if (refusesOptions(error)) this.#sendsSettings = false
    else if (this.#canSwitchTls(route, error)) this.#tls[this.#host] = !route.usesTls
    else if (mayDifferByHost(error)) this.#takeNextHost()
  }

  /** The error that ends the tries, in words that say what to do. */
  explain(error: unknown): unknown {
    return this.#url.options !== '' && error instanceof Error && refusesOptions(error)
      ? new Error(
          `The server or pooler refuses the parameter "options" of AUTH_DB_DATABASE_URL (${error.message}): ` +
            'remove it from the URL and set the same by ALTER ROLE … SET, or let the pooler accept it.',
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
    if (this.#host === 0 && this.#url.session === 'prefer-standby') this.#isChoosy = !this.#isChoosy
  }
}

/** PgBouncer knows no `options` (08P01), and RDS Proxy neither (0A000). */
function refusesOptions(error: unknown): boolean {
  return (
    error instanceof DatabaseError &&
    /startup (?:parameter|option|packet)|command-line option/i.test(error.message)
  )
}

/**
 * Whether the same may succeed without TLS, or with it: TLS itself failed, or PostgreSQL lets us in
 * only the other way (28000). As libpq, we do not send a wrong password twice.
 */
function isAboutTls(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === '28000'
  const code = toCode(error)
  if (code === '') return error instanceof Error && /SSL/.test(error.message)
  return /^(?:ERR_|EPROTO$)|CERT|UNABLE/.test(code)
}

/** Whether another host may succeed: a wrong password or a missing database is the same on all of them. */
function mayDifferByHost(error: unknown): boolean {
  return !(error instanceof DatabaseError) || !/^(?:28|3D)/.test(error.code ?? '')
}

function toCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? `${error.code}` : ''
}
