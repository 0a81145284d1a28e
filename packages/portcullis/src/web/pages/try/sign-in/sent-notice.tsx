import type { VerifyOtpParams } from '@supabase/auth-js'
import type { JSX } from 'preact'
import { Notice } from '../../../components/states.tsx'
import { readText } from '../../../form-values.ts'
import { useSession } from '../../../session.ts'
import { CodeField, orThrow, StepForm } from '../step-form.tsx'
import type { AuthClient } from '../use-auth.ts'

interface SentNoticeProps {
  readonly client: AuthClient
  readonly sent: Sent
}

/** Says where the message was sent, and offers a field for its one-time code. */
export function SentNotice({ client, sent: { kind, to } }: SentNoticeProps): JSX.Element {
  const { parts } = useSession()
  const { what, toParams } = sentTexts[kind]
  const verify = async (form: FormData) => {
    orThrow(await client.verifyOtp(toParams(to, readText(form, 'code'))))
    saveLastSent(undefined)
    return undefined
  }
  return (
    <div class="try-sent stack">
      <Notice tone="accent" title="Message sent.">
        {what} sent to <strong>{to}</strong>.{' '}
        {parts.mailbox ? (
          <>
            Read it in the <a href="/mailbox">Mailbox</a>.
          </>
        ) : (
          'Read it where this auth server delivers messages.'
        )}
      </Notice>
      <StepForm action="Verify code" onSubmit={verify}>
        <CodeField label="One-time code" />
      </StepForm>
    </div>
  )
}

/** A message that was sent to sign in. */
export interface Sent {
  readonly kind: SentKind
  readonly to: string
}

type SentKind = 'confirmation' | 'magic-link' | 'recovery' | 'sms'

interface SentTexts {
  /** Describes the content of the message. */
  readonly what: string
  readonly toParams: (to: string, token: string) => VerifyOtpParams
}

const sentTexts: Readonly<Record<SentKind, SentTexts>> = {
  confirmation: {
    what: 'A confirmation link and a one-time code were',
    toParams: (email, token) => ({ type: 'email', email, token }),
  },
  'magic-link': {
    what: 'A sign-in link and a one-time code were',
    toParams: (email, token) => ({ type: 'email', email, token }),
  },
  recovery: {
    what: 'A password reset link and a one-time code were',
    toParams: (email, token) => ({ type: 'recovery', email, token }),
  },
  sms: {
    what: 'A one-time code was',
    toParams: (phone, token) => ({ type: 'sms', phone, token }),
  },
}

// Kept while the user reads the code in the Mailbox.
let last: Sent | undefined

export function readLastSent(): Sent | undefined {
  return last
}

export function saveLastSent(sent: Sent | undefined): void {
  last = sent
}
