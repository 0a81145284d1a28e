import type { VerifyOtpParams } from '@supabase/auth-js'
import type { JSX } from 'preact'
import { Notice } from '../../../components/states.tsx'
import { useSession } from '../../../session.ts'
import { CodeField, orThrow, readText, StepForm } from '../step-form.tsx'
import type { AuthClient } from '../use-auth.ts'

interface SentNoticeProps {
  readonly client: AuthClient
  readonly sent: Sent
}

/** Where to look for what was just sent, and a place for its code. */
export function SentNotice({ client, sent: { kind, to } }: SentNoticeProps): JSX.Element {
  const { parts } = useSession()
  const { what, toParams } = sentWords[kind]
  const verify = async (form: FormData) => {
    orThrow(await client.verifyOtp(toParams(to, readText(form, 'code'))))
    saveLastSent(undefined)
    return undefined
  }
  return (
    <div class="try-sent stack">
      <Notice tone="accent" title="Sent.">
        {what} went to <strong>{to}</strong>.{' '}
        {parts.mailbox ? (
          <>
            Read it in the <a href="/mailbox">Mailbox</a>.
          </>
        ) : (
          'Read it where messages of this auth server arrive.'
        )}
      </Notice>
      <StepForm action="Use the code" onSubmit={verify}>
        <CodeField label="Code in the message" />
      </StepForm>
    </div>
  )
}

/** A message that is under way to somebody who wants to sign in. */
export interface Sent {
  readonly kind: SentKind
  readonly to: string
}

type SentKind = 'confirmation' | 'magic-link' | 'recovery' | 'sms'

interface SentWords {
  /** What the message has in it. */
  readonly what: string
  readonly toParams: (to: string, token: string) => VerifyOtpParams
}

const sentWords: Readonly<Record<SentKind, SentWords>> = {
  confirmation: {
    what: 'A link that confirms your address, and a code,',
    toParams: (email, token) => ({ type: 'email', email, token }),
  },
  'magic-link': {
    what: 'A link that signs you in, and a code,',
    toParams: (email, token) => ({ type: 'email', email, token }),
  },
  recovery: {
    what: 'A link to set a new password, and a code,',
    toParams: (email, token) => ({ type: 'recovery', email, token }),
  },
  sms: {
    what: 'A code by SMS',
    toParams: (phone, token) => ({ type: 'sms', phone, token }),
  },
}

// Whoever goes to the Mailbox for the code finds the place for it when they come back.
let last: Sent | undefined

export function readLastSent(): Sent | undefined {
  return last
}

export function saveLastSent(sent: Sent | undefined): void {
  last = sent
}
