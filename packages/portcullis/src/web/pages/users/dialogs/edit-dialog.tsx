import type { JSX } from 'preact'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { tellDone } from '../../../components/toasts.tsx'
import { changeUser } from '../change-user.ts'
import { toPhoneNumber } from '../user-facts.ts'
import { readText } from './read-text.ts'
import type { UserDialogProps } from './user-dialog.ts'

export function EditDialog({ user, onChange, onClose }: UserDialogProps): JSX.Element {
  const phoneBefore = user.phone && toPhoneNumber(user.phone)
  const save = async (form: FormData) => {
    const email = readText(form, 'email')
    const phone = readText(form, 'phone')
    const role = readText(form, 'role')
    const isConfirmed = form.has('is_confirmed')
    const change = {
      ...(email !== '' && email !== user.email && { email, email_confirm: isConfirmed }),
      ...(phone !== '' && phone !== phoneBefore && { phone, phone_confirm: isConfirmed }),
      ...(role !== '' && role !== user.role && { role }),
    }
    if (Object.keys(change).length === 0) return
    onChange(await changeUser(user.id, change))
    tellDone('The changes are saved.')
  }
  return (
    <FormDialog title="Edit the user" action="Save" onSubmit={save} onClose={onClose}>
      <Field label="Email">
        <input
          name="email"
          type="email"
          class="input"
          autocomplete="off"
          required={user.email !== ''}
          defaultValue={user.email}
        />
      </Field>
      <Field label="Phone" hint="With the country, as in +49 151 2345 6789.">
        <input
          name="phone"
          type="tel"
          class="input"
          autocomplete="off"
          required={user.phone !== ''}
          defaultValue={phoneBefore}
        />
      </Field>
      <label class="user-check">
        <input name="is_confirmed" type="checkbox" defaultChecked />
        <span>
          A new address or number is confirmed
          <span class="hint">The change takes effect at once, and no message is sent.</span>
        </span>
      </label>
      <Field
        label="Role"
        hint="It is in their next access token. service_role and supabase_admin may do anything."
      >
        <input
          name="role"
          class="input mono"
          autocomplete="off"
          required
          defaultValue={user.role}
        />
      </Field>
    </FormDialog>
  )
}
