import { isAuthRetryableFetchError } from '@supabase/auth-js'
import type { ComponentChildren, JSX, TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import { toMessage } from '../../api.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Notice } from '../../components/states.tsx'
import { useSession } from '../../session.ts'

interface StepFormProps {
  readonly action: string
  readonly kind?: 'primary'
  /** The result, or the error if it rejects, is shown below the form. */
  readonly onSubmit: (form: FormData) => Promise<ComponentChildren>
  /** Shown beside the button. */
  readonly more?: ComponentChildren
  readonly children?: ComponentChildren
}

/** A form with its result. */
export function StepForm({ action, kind, onSubmit, more, children }: StepFormProps): JSX.Element {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const [answer, setAnswer] = useState<ComponentChildren>()
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    setError(undefined)
    setAnswer(undefined)
    try {
      setAnswer(await onSubmit(form))
    } catch (reason) {
      setError(reason)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div class="stack">
      <form class="stack" onSubmit={submit}>
        {children}
        <div class="row">
          <Button type="submit" {...(kind && { kind })} isDisabled={isBusy}>
            {action}
          </Button>
          {more}
        </div>
      </form>
      {error !== undefined && <Notice tone="danger">{toMessage(error)}</Notice>}
      {answer}
    </div>
  )
}

interface ClientAnswer {
  readonly data: unknown
  readonly error: Error | null
}

/** Throws the error of a client result, so that the form can show it. */
export function orThrow<Answer extends ClientAnswer>(
  answer: Answer,
): Extract<Answer, { readonly error: null }>['data'] {
  const { error, data } = answer
  if (!error) return data
  // The message of the client is empty in this case.
  if (isAuthRetryableFetchError(error)) {
    throw new Error('The auth server does not respond. Check that it is still running.', {
      cause: error,
    })
  }
  throw error
}

export function EmailField(): JSX.Element {
  const { parts } = useSession()
  const hint = parts.mailbox && 'Use any address: all mail arrives in the Mailbox of this console.'
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

interface PasswordFieldProps {
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
        title="6 to 10 digits"
      />
    </Field>
  )
}
