import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { GeneratedLink } from '../../../../console/routes/users-upstream.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { readText } from '../../../form-values.ts'
import { toUserName } from '../user-facts.tsx'
import { LinkResult } from './link-dialog.tsx'
import type { UserDialogProps } from './user-dialog.tsx'
import { RedirectField } from './user-dialog.tsx'

/** Generates a link with which the administrator signs in as the user. */
export function ImpersonateDialog({ user, onClose }: UserDialogProps): JSX.Element {
  const [link, setLink] = useState<GeneratedLink>()
  // The form closes itself when it is done; then the link is shown in its place.
  const isMade = useRef(false)
  if (link) {
    return (
      <LinkResult title={`Sign in as ${toUserName(user)}`} link={link} onClose={onClose}>
        Open the link in a private window, so that your own session is kept. It works once, and
        signs you in as the user.
      </LinkResult>
    )
  }
  const generate = async (form: FormData) => {
    const redirectTo = readText(form, 'redirect_to')
    const made = await callApi<GeneratedLink>('/api/users/generate-link', {
      method: 'POST',
      body: {
        type: 'magiclink',
        email: user.email,
        impersonation: true,
        ...(redirectTo !== '' && { redirect_to: redirectTo }),
      },
    })
    isMade.current = true
    setLink(made)
  }
  return (
    <FormDialog
      title={`Impersonate ${toUserName(user)}?`}
      action="Generate link"
      kind="danger"
      onSubmit={generate}
      onClose={() => isMade.current || onClose()}
    >
      <p>
        You get a link that signs you in as this user, with all their rights. The user receives no
        message.
      </p>
      <p class="muted">
        The audit log records the link as impersonation. What you do afterwards is recorded as
        actions of the user.
      </p>
      <RedirectField label="Redirect to" />
    </FormDialog>
  )
}
