import type { Session } from '@supabase/auth-js'
import { useEffect, useState } from 'preact/hooks'
import { noteStepDone } from '../../steps-done.ts'
import {
  type AuthClient,
  cleanAddress,
  type Flow,
  provideClient,
  type ReturnFault,
  readFlow,
  readReturnFault,
  saveFlow,
} from './auth-client.ts'

export interface Auth {
  readonly client: AuthClient
  readonly flow: Flow
  readonly setFlow: (flow: Flow) => void
  /** Undefined until the client knows, null when nobody is signed in. */
  readonly session: Session | null | undefined
  /** Why a link did not sign anybody in. */
  readonly fault: ReturnFault | undefined
  /** Whether a link to set a new password brought us here. */
  readonly isRecovering: boolean
}

/** What a card about the account is given. */
export interface SignedInProps {
  readonly auth: Auth
  readonly session: Session
}

const otherBrowser: ReturnFault = {
  code: 'no_code_verifier',
  message:
    'With PKCE a link works only in the browser that asked for it: the code in the address is nothing without the secret kept there. Ask for a new link here.',
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
