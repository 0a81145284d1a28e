import type { JSX } from 'preact'
import { toReturnUrl } from '../auth-client.ts'
import { orThrow, readText, StepForm } from '../step-form.tsx'
import { EmailField } from './fields.tsx'
import type { WayProps } from './way.ts'

export function MagicLinkForm({ client, onSent }: WayProps): JSX.Element {
  const send = async (form: FormData) => {
    const email = readText(form, 'email')
    const options = { emailRedirectTo: toReturnUrl() }
    orThrow(await client.signInWithOtp({ email, options }))
    onSent({ kind: 'magic-link', to: email })
    return undefined
  }
  return (
    <StepForm action="Send me a link" kind="primary" onSubmit={send}>
      <EmailField />
    </StepForm>
  )
}
