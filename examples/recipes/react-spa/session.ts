import { GoTrueClient, type Session } from '@supabase/auth-js'
import { useSyncExternalStore } from 'react'

/** One client for the whole page: it keeps the session in localStorage and refreshes it. */
export const auth = new GoTrueClient({
  url: document.documentElement.dataset['auth'] ?? '',
  // Links in email return with a code, which only the browser that requested the link can use.
  flowType: 'pkce',
})

/** Undefined until the stored session has been read; null if no user is signed in. */
let session: Session | null | undefined
const listeners = new Set<() => void>()

auth.onAuthStateChange((_event, next) => {
  session = next
  for (const notify of listeners) notify()
})

function subscribe(notify: () => void): () => void {
  listeners.add(notify)
  return () => listeners.delete(notify)
}

/** The session of this page; the component renders again when it changes, also in another tab. */
export function useSession(): Session | null | undefined {
  return useSyncExternalStore(subscribe, () => session)
}

/** Calls your API as the signed-in user. */
export async function callApi(path: string): Promise<unknown> {
  // getSession refreshes an access token that is about to expire.
  const { data } = await auth.getSession()
  const response = await fetch(path, {
    headers: { authorization: `Bearer ${data.session?.access_token}` },
  })
  if (!response.ok) throw new Error(`The API responded with status ${response.status}.`)
  return response.json()
}
