import type { JSX } from 'preact'
import { toReturnUrl } from '../auth-client.ts'
import { orThrow, readText, StepForm } from '../step-form.tsx'
import { EmailField, PasswordField } from './fields.tsx'
import type { WayProps } from './way.ts'

export function SignUpForm({ client, onSent }: WayProps): JSX.Element {
  const signUp = async (form: FormData) => {
    const email = readText(form, 'email')
    const password = String(form.get('password'))
    const options = { emailRedirectTo: toReturnUrl() }
    const { session } = orThrow(await client.signUp({ email, password, options }))
    // Without a session the address is to be confirmed first.
    if (!session) onSent({ kind: 'confirmation', to: email })
    return undefined
  }
  return (
    <StepForm action="Sign up" kind="primary" onSubmit={signUp}>
      <EmailField />
      <PasswordField isNew />
    </StepForm>
  )
}
