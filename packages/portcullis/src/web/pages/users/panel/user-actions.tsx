import type { FunctionComponent, JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { Button } from '../../../components/button.tsx'
import { showFailure, showSuccess } from '../../../components/toasts.tsx'
import { changeUser, type UserChange } from '../change-user.ts'
import { BanDialog, DeleteDialog, EditDialog, PasswordDialog } from '../dialogs/change-dialogs.tsx'
import { ImpersonateDialog } from '../dialogs/impersonate-dialog.tsx'
import { LinkDialog } from '../dialogs/link-dialog.tsx'
import { ResetFactorsDialog } from '../dialogs/reset-factors-dialog.tsx'
import { SendDialog } from '../dialogs/send-dialog.tsx'
import type { UserDialogProps } from '../dialogs/user-dialog.tsx'
import { isBanned } from '../user-facts.tsx'

const dialogs = {
  edit: EditDialog,
  password: PasswordDialog,
  send: SendDialog,
  link: LinkDialog,
  impersonate: ImpersonateDialog,
  factors: ResetFactorsDialog,
  ban: BanDialog,
  delete: DeleteDialog,
} as const satisfies Readonly<Record<string, FunctionComponent<UserDialogProps>>>

export function UserActions(props: Omit<UserDialogProps, 'onClose'>): JSX.Element {
  const { user, onChange } = props
  const [opened, setOpened] = useState<keyof typeof dialogs>()
  const OpenDialog = opened && dialogs[opened]
  const change = async (body: UserChange, done: string) => {
    try {
      onChange(await changeUser(user.id, body))
      showSuccess(done)
    } catch (error) {
      showFailure(error)
    }
  }
  const confirmation = toConfirmation(user)
  return (
    <>
      <div class="row tight">
        <Button size="small" onClick={() => setOpened('edit')}>
          Edit…
        </Button>
        {confirmation && (
          <Button size="small" onClick={() => change(confirmation, 'Address confirmed.')}>
            Confirm
          </Button>
        )}
        <Button size="small" onClick={() => setOpened('password')}>
          Set password…
        </Button>
        {user.email !== '' && (
          <>
            <Button size="small" onClick={() => setOpened('send')}>
              Send email…
            </Button>
            <Button size="small" onClick={() => setOpened('link')}>
              Generate link…
            </Button>
            <Button size="small" onClick={() => setOpened('impersonate')}>
              Impersonate…
            </Button>
          </>
        )}
        {(user.factors ?? []).length > 0 && (
          <Button size="small" onClick={() => setOpened('factors')}>
            Reset factors…
          </Button>
        )}
        {isBanned(user) ? (
          <Button size="small" onClick={() => change({ ban_duration: 'none' }, 'Ban lifted.')}>
            Lift ban
          </Button>
        ) : (
          <Button size="small" onClick={() => setOpened('ban')}>
            Ban…
          </Button>
        )}
        <Button size="small" kind="danger" onClick={() => setOpened('delete')}>
          Delete…
        </Button>
      </div>
      {OpenDialog && <OpenDialog {...props} onClose={() => setOpened(undefined)} />}
    </>
  )
}

/** Returns the change that confirms all unconfirmed addresses; undefined if there are none. */
function toConfirmation(user: User): UserChange | undefined {
  const confirmsEmail = user.email !== '' && user.email_confirmed_at === undefined
  const confirmsPhone = user.phone !== '' && user.phone_confirmed_at === undefined
  if (!confirmsEmail && !confirmsPhone) return undefined
  return {
    ...(confirmsEmail && { email_confirm: true }),
    ...(confirmsPhone && { phone_confirm: true }),
  }
}
