// The script of every page on the test site; it creates the client like a web application.
import { GoTrueClient, navigatorLock } from '@supabase/auth-js'

const { pathname } = location
const client = new GoTrueClient({
  url: document.documentElement.dataset['authUrl'] ?? '',
  flowType: pathname.startsWith('/pkce') ? 'pkce' : 'implicit',
  ...(pathname.startsWith('/locked') && { lock: navigatorLock }),
})
const events: string[] = []
client.onAuthStateChange((event) => {
  events.push(event)
})

export interface SitePage {
  readonly client: GoTrueClient
  readonly events: readonly string[]
}
Object.assign(globalThis, { site: { client, events } satisfies SitePage })
