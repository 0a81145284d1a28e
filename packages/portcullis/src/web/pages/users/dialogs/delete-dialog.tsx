import type { JSX } from 'preact'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { tellDone } from '../../../components/toasts.tsx'
import { toUserName } from '../user-facts.ts'
import type { UserDialogProps } from './user-dialog.ts'

export function DeleteDialog({ user, onDeleted, onClose }: UserDialogProps): JSX.Element {
  const remove = async (form: FormData) => {
    await callApi(`/api/users/${user.id}`, {
      method: 'DELETE',
      body: { should_soft_delete: form.get('kind') === 'soft' },
    })
    tellDone(`${toUserName(user)} is deleted.`)
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
      <p>This cannot be undone. They are signed out everywhere.</p>
      <fieldset class="user-choices">
        <legend>What is deleted</legend>
        <label class="user-check">
          <input type="radio" name="kind" value="hard" defaultChecked />
          <span>
            Everything
            <span class="hint">The account, its identities, sessions, factors and passkeys.</span>
          </span>
        </label>
        <label class="user-check">
          <input type="radio" name="kind" value="soft" />
          <span>
            All that tells who they are
            <span class="hint">
              The id stays, for what refers to it elsewhere. Nobody can sign in with it again.
            </span>
          </span>
        </label>
      </fieldset>
    </FormDialog>
  )
}
