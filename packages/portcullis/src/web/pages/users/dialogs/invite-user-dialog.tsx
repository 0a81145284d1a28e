import type { JSX } from 'preact'
import type { User } from '../../../../console/routes/users-records.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { tellDone } from '../../../components/toasts.tsx'
import type { NewUserDialogProps } from './create-user-dialog.tsx'
import { readText } from './read-text.ts'
import { RedirectField } from './redirect-field.tsx'

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
    tellDone(`${user.email} is invited.`)
    onDone(user)
  }
  return (
    <FormDialog
      title="Invite somebody"
      action="Send the invitation"
      onSubmit={invite}
      onClose={onClose}
    >
      <p class="muted">They get a mail with a link that confirms the address and signs them in.</p>
      <Field label="Email">
        <input name="email" type="email" class="input" autocomplete="off" required />
      </Field>
      <Field label="Full name">
        <input name="full_name" class="input" autocomplete="off" />
      </Field>
      <RedirectField label="Where the link leads" />
    </FormDialog>
  )
}
