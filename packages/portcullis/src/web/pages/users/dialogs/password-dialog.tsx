import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { tellDone } from '../../../components/toasts.tsx'
import { changeUser } from '../change-user.ts'
import { toUserName } from '../user-facts.ts'
import type { UserDialogProps } from './user-dialog.ts'

const shown = { type: 'text' } as const
const masked = { type: 'password' } as const

export function PasswordDialog({ user, onChange, onClose }: UserDialogProps): JSX.Element {
  const [isVisible, setVisible] = useState(false)
  const save = async (form: FormData) => {
    onChange(await changeUser(user.id, { password: String(form.get('password')) }))
    tellDone('The new password is set, and all sessions are ended.')
  }
  return (
    <FormDialog title="Set a new password" action="Set password" onSubmit={save} onClose={onClose}>
      <p class="muted">
        {toUserName(user)} is signed out everywhere, and is not told. To let them choose one
        themselves, generate a link of the kind “Set a new password”.
      </p>
      <Field label="New password">
        <input
          {...(isVisible ? shown : masked)}
          name="password"
          class="input"
          autocomplete="new-password"
          required
        />
      </Field>
      <label class="user-check">
        <input
          type="checkbox"
          checked={isVisible}
          onChange={(event) => setVisible(event.currentTarget.checked)}
        />
        <span>Show what I type</span>
      </label>
    </FormDialog>
  )
}
