import { Client, type ClientConfig } from 'pg'
import { parseConnectionUrl } from './connection-url.ts'
import { type Route, Routes } from './routes.ts'
import {
  type ConnectionFacts,
  readConnectionFacts,
  type SessionSettings,
} from './session-settings.ts'

const timeoutMs = 30_000

/**
 * One connection for a command, by the same URL as the server's: several hosts, TLS and
 * `target_session_attrs` count. Nothing is set for its session.
 */
export async function openClient(url: string, applicationName: string): Promise<Client> {
  const routes = new Routes({ url: parseConnectionUrl(url), settings: {}, timeoutMs })
  return await connectBy(routes, async () => {
    const client = new RoutedClient(routes, { application_name: applicationName, keepAlive: true })
    // A connection that is lost between two statements is reported by the next one.
    client.on('error', () => {})
    await client.connect()
    try {
      await client.examine({})
    } catch (error) {
      await client.end()
      throw error
    }
    return client
  })
}

type Connected = (error: Error | null, client?: Client) => void

/** A connection that knows the way it was opened by. */
export class RoutedClient extends Client {
  readonly #routes: Routes
  readonly #route: Route

  constructor(routes: Routes, config: ClientConfig) {
    const route = routes.current
    super({ ...config, ...routes.toConfig(route) })
    this.#routes = routes
    this.#route = route
  }

  override connect(): Promise<Client>
  override connect(done: Connected): void
  override connect(done?: Connected): Promise<Client> | void {
    const told: Connected = (error, client) => {
      if (error) this.#routes.leave(this.#route, error)
      done?.(error, client)
    }
    if (done !== undefined) {
      super.connect(told as (error: Error) => void)
      return
    }
    return super.connect().catch((error) => {
      this.#routes.leave(this.#route, error)
      throw error
    })
  }

  /** @throws {WrongServerError} where it leads to a server that may not be used. */
  async examine(settings: SessionSettings): Promise<ConnectionFacts> {
    const facts = await readConnectionFacts(this, settings)
    try {
      this.#routes.check(facts, this.#route)
    } catch (error) {
      this.#routes.leave(this.#route, error)
      throw error
    }
    return facts
  }
}

/** Tries the ways of a URL, each once, until one works. */
export async function connectBy<Connection>(
  routes: Routes,
  connect: () => Promise<Connection>,
): Promise<Connection> {
  const tried = new Set<Route>()
  for (;;) {
    tried.add(routes.current)
    try {
      return await connect()
    } catch (error) {
      if (tried.has(routes.current)) throw routes.explain(error)
    }
  }
}
