import type { JSX } from 'preact'
import { Notice } from '../../../components/states.tsx'
import { useSession } from '../../../session.ts'
import type { AuthClient } from '../auth-client.ts'
import { orThrow, readText, StepForm } from '../step-form.tsx'
import { CodeField } from './fields.tsx'
import { type Sent, saveLastSent, sentWords } from './sent.ts'

export interface SentNoticeProps {
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
