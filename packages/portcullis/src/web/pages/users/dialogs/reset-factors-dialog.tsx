import type { JSX } from 'preact'
import { FormDialog } from '../../../components/dialog.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { formatCountOf } from '../../../format.ts'
import { removePart } from '../change-user.ts'
import { toUserName } from '../user-facts.tsx'
import type { UserDialogProps } from './user-dialog.tsx'

/** Removes all second factors, for a user who has lost them. */
export function ResetFactorsDialog({ user, onChange, onClose }: UserDialogProps): JSX.Element {
  const { factors = [] } = user
  const remove = async () => {
    for (const { id } of factors) {
      await removePart(`/api/users/${user.id}/factors/${id}`)
    }
    showSuccess(`${formatCountOf(factors.length, 'second factor')} removed.`)
    onChange({ ...user, factors: [] })
  }
  return (
    <FormDialog
      title={`Reset the second factors of ${toUserName(user)}?`}
      action="Reset"
      kind="danger"
      onSubmit={remove}
      onClose={onClose}
    >
      <ul>
        {factors.map(({ id, friendly_name: name, factor_type: type, status }) => (
          <li key={id}>
            {name || type} <span class="muted">{status}</span>
          </li>
        ))}
      </ul>
      <p class="muted">
        The user can sign in without a second factor until they set one up again. Sessions verified
        with these factors fall back to a single factor (aal1).
      </p>
    </FormDialog>
  )
}
