import { AuthClient as SupabaseClient } from '@supabase/auth-js'
import { callHeaders } from '../../api.ts'
import { loggedFetch } from './call-log.ts'

export type AuthClient = InstanceType<typeof SupabaseClient>

/** How a link in a mail brings its reader back signed in. */
export type Flow = 'implicit' | 'pkce'

const flowKey = 'portcullis-try-flow'
const clients: Partial<Record<Flow, AuthClient>> = {}

/** The unchanged client of Supabase, as any application would use it. One for each flow. */
export function provideClient(flow: Flow): AuthClient {
  clients[flow] ??= new SupabaseClient({
    url: `${location.origin}/auth`,
    // The console in between lets only its own page pass.
    headers: callHeaders,
    storageKey: `portcullis-try-${flow}`,
    flowType: flow,
    detectSessionInUrl: true,
    fetch: loggedFetch,
  })
  return clients[flow]
}

/** Where links of mails lead back to. */
export function toReturnUrl(): string {
  return `${location.origin}/try`
}

export function saveFlow(flow: Flow): void {
  localStorage.setItem(flowKey, flow)
}

/** What came back decides; else what was chosen. */
export function readFlow(): Flow {
  if (new URLSearchParams(location.search).has('code')) return 'pkce'
  if (new URLSearchParams(location.hash.slice(1)).has('access_token')) return 'implicit'
  return localStorage.getItem(flowKey) === 'pkce' ? 'pkce' : 'implicit'
}

export interface ReturnFault {
  readonly code: string
  readonly message: string
}

/** What the auth server says in the address when a link is not good. */
export function readReturnFault(): ReturnFault | undefined {
  const query = new URLSearchParams(location.search)
  const fragment = new URLSearchParams(location.hash.slice(1))
  const read = (name: string) => query.get(name) ?? fragment.get(name)
  const code = read('error_code') ?? read('error')
  if (code === null) return undefined
  return { code, message: read('error_description') ?? 'The link did not work.' }
}

/** The part of the address that has done its work, or never will. */
export function cleanAddress(): void {
  history.replaceState(history.state, '', '/try')
}
