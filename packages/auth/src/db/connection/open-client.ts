import type { Client } from 'pg'
import { parseConnectionUrl } from './connection-url.ts'
import { connectBy, RoutedClient } from './routed-client.ts'
import { Routes } from './routes.ts'

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
