import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { Button } from '../../../components/button.tsx'
import { Field } from '../../../components/field.tsx'
import { showFailure } from '../../../components/toasts.tsx'
import { readText } from '../../../form-values.ts'
import { EmailField, orThrow, PasswordField, StepForm } from '../step-form.tsx'
import type { AuthClient } from '../use-auth.ts'
import { toReturnUrl } from '../use-auth.ts'
import type { Sent } from './sent-notice.tsx'

/** The props of each form. */
export interface SignInFormProps {
  readonly client: AuthClient
  /** Called when a message has been sent. */
  readonly onSent: (sent: Sent) => void
}

export function PasswordForm({ client, onSent }: SignInFormProps): JSX.Element {
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
      showFailure(error)
    }
  }
  const forgot = (
    <Button kind="quiet" onClick={recover}>
      Forgot password?
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

export function SignUpForm({ client, onSent }: SignInFormProps): JSX.Element {
  const signUp = async (form: FormData) => {
    const email = readText(form, 'email')
    const password = String(form.get('password'))
    const options = { emailRedirectTo: toReturnUrl() }
    const { session } = orThrow(await client.signUp({ email, password, options }))
    // Without a session, the address has to be confirmed first.
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

export function MagicLinkForm({ client, onSent }: SignInFormProps): JSX.Element {
  const send = async (form: FormData) => {
    const email = readText(form, 'email')
    const options = { emailRedirectTo: toReturnUrl() }
    orThrow(await client.signInWithOtp({ email, options }))
    onSent({ kind: 'magic-link', to: email })
    return undefined
  }
  return (
    <StepForm action="Send link" kind="primary" onSubmit={send}>
      <EmailField />
    </StepForm>
  )
}

export function PhoneForm({ client, onSent }: SignInFormProps): JSX.Element {
  const send = async (form: FormData) => {
    const phone = readText(form, 'phone').replaceAll(/[\s()-]/g, '')
    orThrow(await client.signInWithOtp({ phone }))
    onSent({ kind: 'sms', to: phone })
    return undefined
  }
  return (
    <StepForm action="Send code" kind="primary" onSubmit={send}>
      <Field label="Phone number" hint="With country code, such as +49 151 23456789.">
        <input class="input" type="tel" name="phone" required autocomplete="tel" />
      </Field>
    </StepForm>
  )
}
