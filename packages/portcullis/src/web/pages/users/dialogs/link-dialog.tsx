import type { ComponentChildren, JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { GeneratedLink, User } from '../../../../console/routes/users-upstream.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { SecretsDialog } from '../../../components/secrets-dialog.tsx'
import { readText } from '../../../form-values.ts'
import type { UserDialogProps } from './user-dialog.tsx'
import { RedirectField } from './user-dialog.tsx'

export function LinkDialog(props: UserDialogProps): JSX.Element {
  const [link, setLink] = useState<GeneratedLink>()
  if (link) {
    return (
      <LinkResult title="Generated link" link={link} onClose={props.onClose}>
        Anyone who has the link can use it once. It is shown only here, so share it only with the
        user.
      </LinkResult>
    )
  }
  return <LinkForm {...props} onLink={setLink} />
}

interface LinkFormProps extends UserDialogProps {
  readonly onLink: (link: GeneratedLink) => void
}

function LinkForm({ user, onClose, onLink }: LinkFormProps): JSX.Element {
  const kinds = toLinkKinds(user)
  const [kind, setKind] = useState<LinkKind>(kinds[0])
  // The form closes itself when it is done; then the link is shown in its place.
  const isMade = useRef(false)
  const generate = async (form: FormData) => {
    const body = Object.fromEntries(
      ['new_email', 'password', 'redirect_to']
        .map((name) => [name, readText(form, name)] as const)
        .filter(([, value]) => value !== ''),
    )
    const link = await callApi<GeneratedLink>('/api/users/generate-link', {
      method: 'POST',
      body: { type: kind.type, email: user.email, ...body },
    })
    isMade.current = true
    onLink(link)
  }
  return (
    <FormDialog
      title="Generate link"
      action="Generate"
      onSubmit={generate}
      onClose={() => isMade.current || onClose()}
    >
      <Field label="Type" hint={kind.explanation}>
        <select
          name="type"
          class="input"
          value={kind.type}
          onChange={(event) => {
            const chosen = event.currentTarget.value
            setKind(kinds.find(({ type }) => type === chosen) ?? kinds[0])
          }}
        >
          {kinds.map(({ type, title }) => (
            <option key={type} value={type}>
              {title}
            </option>
          ))}
        </select>
      </Field>
      {kind.needs === 'new_email' && (
        <Field label="New email">
          <input name="new_email" type="email" class="input" autocomplete="off" required />
        </Field>
      )}
      {kind.needs === 'password' && (
        <Field label="Password" hint="The user will sign in with it.">
          <input
            name="password"
            type="password"
            class="input"
            autocomplete="new-password"
            required
          />
        </Field>
      )}
      <RedirectField label="Redirect to" />
    </FormDialog>
  )
}

interface LinkKind {
  readonly type: string
  readonly title: string
  readonly explanation: string
  /** An additional field that this type requires. */
  readonly needs?: 'new_email' | 'password'
}

const always = [
  {
    type: 'magiclink',
    title: 'Sign in (magic link)',
    explanation: 'Signs the user in without a password. No message is sent.',
  },
  {
    type: 'recovery',
    title: 'Reset password',
    explanation: 'Signs the user in to set a new password. No message is sent.',
  },
  {
    type: 'email_change_new',
    title: 'Change email: confirm the new address',
    explanation: 'Confirms the new address. No message is sent.',
    needs: 'new_email',
  },
  {
    type: 'email_change_current',
    title: 'Change email: confirm the current address',
    explanation:
      'Confirms the change from the current address, if both must confirm. No message is sent.',
    needs: 'new_email',
  },
] as const satisfies readonly LinkKind[]

const beforeConfirmation: readonly LinkKind[] = [
  {
    type: 'invite',
    title: 'Invite',
    explanation: 'Confirms the address and signs the user in. The link is also sent by email.',
  },
  {
    type: 'signup',
    title: 'Confirm sign-up',
    explanation: 'Confirms the address of an account with a password. No message is sent.',
    needs: 'password',
  },
]

/** Links that confirm the address are offered only while it is unconfirmed. */
function toLinkKinds({ email_confirmed_at: at }: User): readonly [LinkKind, ...LinkKind[]] {
  return at === undefined ? [...always, ...beforeConfirmation] : always
}

interface LinkResultProps {
  readonly title: string
  readonly link: GeneratedLink
  readonly onClose: () => void
  /** What the link is for. */
  readonly children: ComponentChildren
}

export function LinkResult({ title, link, onClose, children }: LinkResultProps): JSX.Element {
  const secrets = {
    Link: link.action_link,
    'One-time code (instead of the link)': link.email_otp,
  }
  return (
    <SecretsDialog title={title} secrets={secrets} onClose={onClose}>
      {children}
    </SecretsDialog>
  )
}
