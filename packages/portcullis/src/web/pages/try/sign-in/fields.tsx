import type { JSX } from 'preact'
import { Field } from '../../../components/field.tsx'
import { useSession } from '../../../session.ts'

export function EmailField(): JSX.Element {
  const { parts } = useSession()
  const hint = parts.mailbox && 'Any address will do: all mail goes to the Mailbox of this console.'
  return (
    <Field label="Email" hint={hint}>
      <input
        class="input"
        type="email"
        name="email"
        required
        autocomplete="username"
        placeholder="ada@example.com"
      />
    </Field>
  )
}

export interface PasswordFieldProps {
  readonly label?: string
  readonly isNew?: boolean
}

export function PasswordField({ label = 'Password', isNew }: PasswordFieldProps): JSX.Element {
  return (
    <Field label={label} {...(isNew && { hint: 'At least 6 characters.' })}>
      <input
        class="input"
        type="password"
        name="password"
        required
        autocomplete={isNew ? 'new-password' : 'current-password'}
      />
    </Field>
  )
}

export function CodeField({ label }: { readonly label: string }): JSX.Element {
  return (
    <Field label={label}>
      <input
        class="input mono try-code"
        name="code"
        required
        inputmode="numeric"
        autocomplete="one-time-code"
        pattern="\s*\d{6,10}\s*"
        title="The digits of the code"
      />
    </Field>
  )
}
