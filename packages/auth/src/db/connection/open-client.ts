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
 * Opens one connection for a command. As for the server, the URL may have several hosts, TLS
 * parameters and `target_session_attrs`. No session settings are sent.
 */
export async function openClient(url: string, applicationName: string): Promise<Client> {
  const routes = new Routes({ url: parseConnectionUrl(url), settings: {}, timeoutMs })
  return await connectBy(routes, async () => {
    const client = new RoutedClient(routes, { application_name: applicationName, keepAlive: true })
    // The next statement reports a connection that was lost in between.
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

/** A connection that remembers its route. */
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
    const onConnected: Connected = (error, client) => {
      if (error) this.#routes.leave(this.#route, error)
      done?.(error, client)
    }
    if (done !== undefined) {
      super.connect(onConnected as (error: Error) => void)
      return
    }
    return super.connect().catch((error) => {
      this.#routes.leave(this.#route, error)
      throw error
    })
  }

  /** @throws {WrongServerError} if it leads to a server that must not be used. */
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

/** Tries each route of a URL once until one works. */
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
