import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { GeneratedLink, User } from '../../../../console/routes/users-upstream.ts'
import { callApi } from '../../../api.ts'
import { Button, CopyButton } from '../../../components/button.tsx'
import { Dialog, FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import type { UserDialogProps } from './user-dialog.tsx'
import { RedirectField, readText } from './user-dialog.tsx'

export function LinkDialog(props: UserDialogProps): JSX.Element {
  const [link, setLink] = useState<GeneratedLink>()
  if (link) return <LinkResult link={link} onClose={props.onClose} />
  return <LinkForm {...props} onLink={setLink} />
}

interface LinkFormProps extends UserDialogProps {
  readonly onLink: (link: GeneratedLink) => void
}

function LinkForm({ user, onClose, onLink }: LinkFormProps): JSX.Element {
  const kinds = toLinkKinds(user)
  const [kind, setKind] = useState<LinkKind>(kinds[0])
  // The form closes itself when it is done; the link comes in its place.
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
      title="Generate a link"
      action="Generate"
      onSubmit={generate}
      onClose={() => isMade.current || onClose()}
    >
      <Field label="What it does" hint={kind.explanation}>
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
      {kind.asks === 'new_email' && (
        <Field label="New email">
          <input name="new_email" type="email" class="input" autocomplete="off" required />
        </Field>
      )}
      {kind.asks === 'password' && (
        <Field label="Password" hint="That they will sign in with.">
          <input
            name="password"
            type="password"
            class="input"
            autocomplete="new-password"
            required
          />
        </Field>
      )}
      <RedirectField label="Where it leads" />
    </FormDialog>
  )
}

interface LinkResultProps {
  readonly link: GeneratedLink
  readonly onClose: () => void
}

function LinkResult({ link, onClose }: LinkResultProps): JSX.Element {
  return (
    <Dialog title="The link" onClose={onClose}>
      <p class="muted">
        Whoever has it can use it once, and it is shown only here: hand it to nobody else.
      </p>
      <Secret label="Link" value={link.action_link} />
      <Secret label="Code, in place of the link" value={link.email_otp} />
      <footer>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}

function Secret({ label, value }: { readonly label: string; readonly value: string }): JSX.Element {
  return (
    <div class="stack tight">
      <div class="row user-between">
        <h3>{label}</h3>
        <CopyButton text={value} />
      </div>
      <output class="code-block mono" aria-label={label}>
        {value}
      </output>
    </div>
  )
}

interface LinkKind {
  readonly type: string
  readonly title: string
  readonly explanation: string
  /** What else has to be told. */
  readonly asks?: 'new_email' | 'password'
}

const always = [
  {
    type: 'magiclink',
    title: 'Sign in',
    explanation: 'Signs them in without a password. Nothing is sent.',
  },
  {
    type: 'recovery',
    title: 'Set a new password',
    explanation: 'Signs them in to choose a new password. Nothing is sent.',
  },
  {
    type: 'email_change_new',
    title: 'Change the email address: for the new address',
    explanation: 'Whoever opens it proves that the new address is theirs. Nothing is sent.',
    asks: 'new_email',
  },
  {
    type: 'email_change_current',
    title: 'Change the email address: for the present address',
    explanation:
      'Where a change needs both addresses, this one is for the present. Nothing is sent.',
    asks: 'new_email',
  },
] as const satisfies readonly LinkKind[]

const beforeConfirmation: readonly LinkKind[] = [
  {
    type: 'invite',
    title: 'Invite',
    explanation: 'Confirms the address and signs them in. It is sent by mail as well.',
  },
  {
    type: 'signup',
    title: 'Confirm the sign-up',
    explanation: 'Confirms the address of an account with a password. Nothing is sent.',
    asks: 'password',
  },
]

/** Whose address is confirmed needs no link that confirms it. */
function toLinkKinds({ email_confirmed_at: at }: User): readonly [LinkKind, ...LinkKind[]] {
  return at === undefined ? [...always, ...beforeConfirmation] : always
}
