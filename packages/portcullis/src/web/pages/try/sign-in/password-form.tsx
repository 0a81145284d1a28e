import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { Button } from '../../../components/button.tsx'
import { tellFailure } from '../../../components/toasts.tsx'
import { toReturnUrl } from '../auth-client.ts'
import { orThrow, readText, StepForm } from '../step-form.tsx'
import { EmailField, PasswordField } from './fields.tsx'
import type { WayProps } from './way.ts'

export function PasswordForm({ client, onSent }: WayProps): JSX.Element {
  const fields = useRef<HTMLDivElement>(null)
  const signIn = async (form: FormData) => {
    const email = readText(form, 'email')
    const password = String(form.get('password'))
    orThrow(await client.signInWithPassword({ email, password }))
    return undefined
  }
  const recover = async () => {
    const input = fields.current?.querySelector<HTMLInputElement>('input[name=email]')
    if (!input?.reportValidity()) return
    try {
      orThrow(await client.resetPasswordForEmail(input.value, { redirectTo: toReturnUrl() }))
      onSent({ kind: 'recovery', to: input.value })
    } catch (error) {
      tellFailure(error)
    }
  }
  const forgot = (
    <Button kind="quiet" onClick={recover}>
      I forgot it
    </Button>
  )
  return (
    <StepForm action="Sign in" kind="primary" onSubmit={signIn} more={forgot}>
      <div class="stack" ref={fields}>
        <EmailField />
        <PasswordField />
      </div>
    </StepForm>
  )
}
