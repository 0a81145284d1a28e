import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callApi } from '../../../api.ts'
import { formatBanEnd, isPermanentBan, permanentBanYears } from '../../../ban-end.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { readText } from '../../../form-values.ts'
import { formatPhone, formatTime } from '../../../format.ts'
import { changeUser, revokeAllSessions } from '../change-user.ts'
import { toUserName } from '../user-facts.tsx'
import type { UserDialogProps } from './user-dialog.tsx'

export function EditDialog({ user, onChange, onClose }: UserDialogProps): JSX.Element {
  const phoneBefore = user.phone && formatPhone(user.phone)
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
    showSuccess('Changes saved.')
  }
  return (
    <FormDialog title="Edit user" action="Save" onSubmit={save} onClose={onClose}>
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
      <Field label="Phone" hint="With country code, such as +49 151 2345 6789.">
        <input
          name="phone"
          type="tel"
          class="input"
          autocomplete="off"
          required={user.phone !== ''}
          defaultValue={phoneBefore}
        />
      </Field>
      <label class="choice">
        <input name="is_confirmed" type="checkbox" defaultChecked />
        <span>
          Mark a new email address or phone number as confirmed
          <span class="hint">The change takes effect at once, and no message is sent.</span>
        </span>
      </label>
      <Field
        label="Role"
        hint="Takes effect with the next access token. service_role and supabase_admin have full access."
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

const shown = { type: 'text' } as const
const masked = { type: 'password' } as const

export function PasswordDialog({ user, onChange, onClose }: UserDialogProps): JSX.Element {
  const [isVisible, setVisible] = useState(false)
  const save = async (form: FormData) => {
    onChange(await changeUser(user.id, { password: String(form.get('password')) }))
    showSuccess('Password set. All sessions were revoked.')
  }
  return (
    <FormDialog title="Set a new password" action="Set password" onSubmit={save} onClose={onClose}>
      <p class="muted">
        {toUserName(user)} is signed out everywhere and receives no message. To let users choose a
        password themselves, send them a “Reset password” email.
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
      <label class="choice">
        <input
          type="checkbox"
          checked={isVisible}
          onChange={(event) => setVisible(event.currentTarget.checked)}
        />
        <span>Show password</span>
      </label>
    </FormDialog>
  )
}

const hourMs = 3_600_000

const durations = [
  { label: 'One hour', hours: 1 },
  { label: 'One day', hours: 24 },
  { label: 'One week', hours: 7 * 24 },
  { label: '30 days', hours: 30 * 24 },
  { label: 'One year', hours: 365 * 24 },
  { label: 'Permanently', hours: permanentBanYears * 365 * 24 },
] as const

/** The field `hours` of a form. */
export function BanDurations(): JSX.Element {
  const now = Date.now()
  return (
    <fieldset class="choices">
      <legend>Duration</legend>
      {durations.map(({ label, hours }) => (
        <label key={hours} class="choice">
          <input type="radio" name="hours" value={hours} defaultChecked={hours === 24} />
          <span>{label}</span>
          {!isPermanentBan(now + hours * hourMs, now) && (
            <span class="hint number">until {formatTime(now + hours * hourMs)}</span>
          )}
        </label>
      ))}
    </fieldset>
  )
}

export function BanDialog({ user, onChange, onClose }: UserDialogProps): JSX.Element {
  const ban = async (form: FormData) => {
    const changed = await changeUser(user.id, { ban_duration: `${readText(form, 'hours')}h` })
    onChange(changed)
    const end = changed.banned_until && ` ${formatBanEnd(changed.banned_until)}`
    showSuccess(`${toUserName(user)} was banned${end ?? ''}.`)
  }
  return (
    <FormDialog
      title={`Ban ${toUserName(user)}?`}
      action="Ban"
      kind="danger"
      onSubmit={ban}
      onClose={onClose}
    >
      <p class="muted">
        The user can neither sign in nor refresh a session until the ban ends or is lifted. Nothing
        is deleted.
      </p>
      <BanDurations />
    </FormDialog>
  )
}

export function RevokeSessionsDialog({ user, onClose }: UserDialogProps): JSX.Element {
  const revoke = async () => {
    await revokeAllSessions(user.id)
    showSuccess(`${toUserName(user)} was signed out.`)
  }
  return (
    <FormDialog
      title={`Revoke all sessions of ${toUserName(user)}?`}
      action="Revoke sessions"
      kind="danger"
      onSubmit={revoke}
      onClose={onClose}
    >
      <p class="muted">
        Revoked sessions cannot be refreshed. Your services may still accept their access tokens
        until the tokens expire. The user can sign in again.
      </p>
    </FormDialog>
  )
}

/** The field `kind` of a form. */
export function DeleteKinds(): JSX.Element {
  return (
    <fieldset class="choices">
      <legend>What is deleted</legend>
      <label class="choice">
        <input type="radio" name="kind" value="hard" defaultChecked />
        <span>
          Everything
          <span class="hint">
            The account, its identities, sessions, second factors and passkeys.
          </span>
        </span>
      </label>
      <label class="choice">
        <input type="radio" name="kind" value="soft" />
        <span>
          Personal data only
          <span class="hint">
            The ID is kept for references from other systems. The account can no longer be used.
          </span>
        </span>
      </label>
    </fieldset>
  )
}

export function DeleteDialog({ user, onDeleted, onClose }: UserDialogProps): JSX.Element {
  const remove = async (form: FormData) => {
    await callApi(`/api/users/${user.id}`, {
      method: 'DELETE',
      body: { should_soft_delete: form.get('kind') === 'soft' },
    })
    showSuccess(`${toUserName(user)} was deleted.`)
    onDeleted()
  }
  return (
    <FormDialog
      title={`Delete ${toUserName(user)}?`}
      action="Delete"
      kind="danger"
      onSubmit={remove}
      onClose={onClose}
    >
      <p>This cannot be undone. The user is signed out everywhere.</p>
      <DeleteKinds />
    </FormDialog>
  )
}
