import type { Session } from '@supabase/auth-js'
import { AuthClient as SupabaseClient } from '@supabase/auth-js'
import { useEffect, useState } from 'preact/hooks'
import { callHeaders } from '../../api.ts'
import { noteStepDone } from '../../session.ts'
import { loggedFetch } from './call-log-card.tsx'

export interface Auth {
  readonly client: AuthClient
  readonly flow: Flow
  readonly setFlow: (flow: Flow) => void
  /** Undefined until the client has loaded it; null if no user is signed in. */
  readonly session: Session | null | undefined
  /** Why a link did not sign the user in. */
  readonly fault: ReturnFault | undefined
  /** Whether the page was opened by a password reset link. */
  readonly isRecovering: boolean
}

/** The props of the account cards. */
export interface SignedInProps {
  readonly auth: Auth
  readonly session: Session
}

const otherBrowser: ReturnFault = {
  code: 'no_code_verifier',
  message:
    'With PKCE a link works only in the browser that requested it, because the code verifier is stored there. Request a new link in this browser.',
}

export function useAuth(): Auth {
  const [flow, setFlow] = useState(readFlow)
  const [session, setSession] = useState<Session | null>()
  const [fault, setFault] = useState(readReturnFault)
  const [isRecovering, setRecovering] = useState(false)
  const client = provideClient(flow)

  useEffect(() => {
    let isGone = false
    const { data } = client.onAuthStateChange((event, next) => {
      setSession(next)
      if (next !== null) noteStepDone('/try')
      if (event === 'PASSWORD_RECOVERY') setRecovering(true)
      if (event === 'SIGNED_OUT') setRecovering(false)
    })
    const settle = async () => {
      const { error } = await client.initialize()
      if (isGone) return
      const hadFault = readReturnFault() !== undefined
      const isCodeLeft = new URLSearchParams(location.search).has('code')
      if (isCodeLeft) setFault(otherBrowser)
      else if (error && !hadFault) {
        setFault({ code: error.code ?? error.name, message: error.message })
      }
      if (location.search !== '' || location.href.includes('#')) cleanAddress()
    }
    void settle()
    return () => {
      isGone = true
      data.subscription.unsubscribe()
    }
  }, [client])

  return {
    client,
    flow,
    setFlow: (next) => {
      saveFlow(next)
      setSession(undefined)
      setFlow(next)
    },
    session,
    fault,
    isRecovering,
  }
}

export type AuthClient = InstanceType<typeof SupabaseClient>

/** How a link in a mail signs the user in. */
export type Flow = 'implicit' | 'pkce'

const flowKey = 'portcullis-try-flow'
const clients: Partial<Record<Flow, AuthClient>> = {}

/** The original Supabase client, as an application would use it; one per flow. */
function provideClient(flow: Flow): AuthClient {
  clients[flow] ??= new SupabaseClient({
    url: `${location.origin}/auth`,
    // The console accepts only calls of its own page.
    headers: callHeaders,
    storageKey: `portcullis-try-${flow}`,
    flowType: flow,
    detectSessionInUrl: true,
    fetch: loggedFetch,
  })
  return clients[flow]
}

/** The address that links in emails lead back to. */
export function toReturnUrl(): string {
  return `${location.origin}/try`
}

function saveFlow(flow: Flow): void {
  localStorage.setItem(flowKey, flow)
}

/** Uses the flow of the current URL, otherwise the stored choice. */
function readFlow(): Flow {
  if (new URLSearchParams(location.search).has('code')) return 'pkce'
  if (new URLSearchParams(location.hash.slice(1)).has('access_token')) return 'implicit'
  return localStorage.getItem(flowKey) === 'pkce' ? 'pkce' : 'implicit'
}

interface ReturnFault {
  readonly code: string
  readonly message: string
}

/** Reads the error that the auth server adds to the URL when a link is invalid. */
function readReturnFault(): ReturnFault | undefined {
  const query = new URLSearchParams(location.search)
  const fragment = new URLSearchParams(location.hash.slice(1))
  const read = (name: string) => query.get(name) ?? fragment.get(name)
  const code = read('error_code') ?? read('error')
  if (code === null) return undefined
  return { code, message: read('error_description') ?? 'The link is invalid.' }
}

/** Removes the parameters of the link from the URL. */
function cleanAddress(): void {
  history.replaceState(history.state, '', '/try')
}
