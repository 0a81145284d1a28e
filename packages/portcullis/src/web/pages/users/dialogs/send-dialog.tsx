import type { JSX } from 'preact'
import type { MailType, SentMail } from '../../../../console/routes/users-mail.ts'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { readText } from '../../../form-values.ts'
import type { UserDialogProps } from './user-dialog.tsx'
import { RedirectField } from './user-dialog.tsx'

interface Mail {
  readonly type: MailType
  readonly title: string
  readonly explanation: string
}

const recovery: Mail = {
  type: 'recovery',
  title: 'Reset password',
  explanation: 'Sends a link that signs the user in to set a new password.',
}
const magicLink: Mail = {
  type: 'magiclink',
  title: 'Sign in (magic link)',
  explanation: 'Sends a link that signs the user in without a password.',
}
const confirmation: Mail = {
  type: 'signup',
  title: 'Confirm sign-up',
  explanation:
    'Sends a new link that confirms the address. The password that the user chose at sign-up is removed; they can set a new one.',
}
const invitation: Mail = {
  type: 'invite',
  title: 'Invite',
  explanation: 'Sends a new invitation: a link that confirms the address and signs the user in.',
}

/** Returns the emails that make sense for the user, the most likely first. */
function toMails({ email_confirmed_at: at, invited_at: invitedAt }: User): readonly Mail[] {
  if (at !== undefined) return [recovery, magicLink]
  return [...(invitedAt === undefined ? [confirmation] : [invitation]), magicLink, recovery]
}

/** Sends an email to the user. Earlier links of the same type stop working. */
export function SendDialog({ user, onClose }: UserDialogProps): JSX.Element {
  const mails = toMails(user)
  const send = async (form: FormData) => {
    const mail = mails.find(({ type }) => type === form.get('type'))
    const redirectTo = readText(form, 'redirect_to')
    const { email } = await callApi<SentMail>(`/api/users/${user.id}/mail`, {
      method: 'POST',
      body: { type: mail?.type, ...(redirectTo !== '' && { redirect_to: redirectTo }) },
    })
    showSuccess(`Email sent to ${email}: ${mail?.title}.`)
  }
  return (
    <FormDialog
      title={`Send email to ${user.email}`}
      action="Send"
      onSubmit={send}
      onClose={onClose}
    >
      <fieldset class="choices">
        <legend>Email</legend>
        {mails.map(({ type, title, explanation }, index) => (
          <label key={type} class="choice">
            <input type="radio" name="type" value={type} defaultChecked={index === 0} />
            <span>
              {title}
              <span class="hint">{explanation}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <RedirectField label="Redirect to" />
    </FormDialog>
  )
}
