import type { JSX } from 'preact'
import { FormDialog } from '../../../components/dialog.tsx'
import { tellDone } from '../../../components/toasts.tsx'
import { formatTime } from '../../../format.ts'
import { changeUser } from '../change-user.ts'
import { toUserName } from '../user-facts.ts'
import { readText } from './read-text.ts'
import type { UserDialogProps } from './user-dialog.ts'

const hourMs = 3_600_000

const durations = [
  { label: 'One hour', hours: 1 },
  { label: 'One day', hours: 24 },
  { label: 'One week', hours: 7 * 24 },
  { label: '30 days', hours: 30 * 24 },
  { label: 'One year', hours: 365 * 24 },
  // The auth server knows no end that is open.
  { label: 'For good', hours: 100 * 365 * 24 },
] as const

export function BanDialog({ user, onChange, onClose }: UserDialogProps): JSX.Element {
  const ban = async (form: FormData) => {
    const changed = await changeUser(user.id, { ban_duration: `${readText(form, 'hours')}h` })
    onChange(changed)
    const until = changed.banned_until && ` until ${formatTime(changed.banned_until)}`
    tellDone(`${toUserName(user)} is banned${until ?? ''}.`)
  }
  const now = Date.now()
  return (
    <FormDialog
      title={`Ban ${toUserName(user)}?`}
      action="Ban"
      kind="danger"
      onSubmit={ban}
      onClose={onClose}
    >
      <p class="muted">
        They can neither sign in nor go on with a session until the ban ends or is lifted. Nothing
        is deleted.
      </p>
      <fieldset class="user-choices">
        <legend>For how long</legend>
        {durations.map(({ label, hours }) => (
          <label key={hours} class="user-check">
            <input type="radio" name="hours" value={hours} defaultChecked={hours === 24} />
            <span>{label}</span>
            <span class="hint number">until {formatTime(now + hours * hourMs)}</span>
          </label>
        ))}
      </fieldset>
    </FormDialog>
  )
}
