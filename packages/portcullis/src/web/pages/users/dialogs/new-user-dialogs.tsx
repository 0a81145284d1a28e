import type { JSX } from 'preact'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { readText } from '../../../form-values.ts'
import { toUserName } from '../user-facts.tsx'
import { RedirectField } from './user-dialog.tsx'

interface NewUserDialogProps {
  readonly onDone: (user: User) => void
  readonly onClose: () => void
}

export function CreateUserDialog({ onDone, onClose }: NewUserDialogProps): JSX.Element {
  const create = async (form: FormData) => {
    const email = readText(form, 'email')
    const phone = readText(form, 'phone')
    const fullName = readText(form, 'full_name')
    if (email === '' && phone === '') throw new Error('Enter an email address or a phone number.')
    const isConfirmed = form.has('is_confirmed')
    const user = await callApi<User>('/api/users', {
      method: 'POST',
      body: {
        ...(email !== '' && { email, email_confirm: isConfirmed }),
        ...(phone !== '' && { phone, phone_confirm: isConfirmed }),
        ...(fullName !== '' && { user_metadata: { full_name: fullName } }),
        password: form.get('password'),
      },
    })
    showSuccess(`${toUserName(user)} was created.`)
    onDone(user)
  }
  return (
    <FormDialog title="Create user" action="Create" onSubmit={create} onClose={onClose}>
      <Field label="Email">
        <input name="email" type="email" class="input" autocomplete="off" />
      </Field>
      <Field
        label="Phone"
        hint="With country code, such as +49 151 2345 6789. Email or phone is enough."
      >
        <input name="phone" type="tel" class="input" autocomplete="off" />
      </Field>
      <Field label="Full name">
        <input name="full_name" class="input" autocomplete="off" />
      </Field>
      <Field
        label="Password"
        hint="Without a password the user signs in with a link or one-time code."
      >
        <input name="password" type="password" class="input" autocomplete="new-password" />
      </Field>
      <label class="choice">
        <input name="is_confirmed" type="checkbox" defaultChecked />
        <span>
          Mark the address as confirmed
          <span class="hint">No message is sent in either case.</span>
        </span>
      </label>
    </FormDialog>
  )
}

export function InviteUserDialog({ onDone, onClose }: NewUserDialogProps): JSX.Element {
  const invite = async (form: FormData) => {
    const redirectTo = readText(form, 'redirect_to')
    const fullName = readText(form, 'full_name')
    const query = redirectTo === '' ? '' : `?${new URLSearchParams({ redirect_to: redirectTo })}`
    const user = await callApi<User>(`/api/users/invite${query}`, {
      method: 'POST',
      body: {
        email: readText(form, 'email'),
        ...(fullName !== '' && { data: { full_name: fullName } }),
      },
    })
    showSuccess(`${user.email} was invited.`)
    onDone(user)
  }
  return (
    <FormDialog title="Invite user" action="Send invitation" onSubmit={invite} onClose={onClose}>
      <p class="muted">
        The user receives an email with a link that confirms the address and signs them in.
      </p>
      <Field label="Email">
        <input name="email" type="email" class="input" autocomplete="off" required />
      </Field>
      <Field label="Full name">
        <input name="full_name" class="input" autocomplete="off" />
      </Field>
      <RedirectField label="Redirect to" />
    </FormDialog>
  )
}
