// The script of every page of the test site: the client as a web application makes it.
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

export interface PageOfSite {
  readonly client: GoTrueClient
  readonly events: readonly string[]
}
Object.assign(globalThis, { site: { client, events } satisfies PageOfSite })
