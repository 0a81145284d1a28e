import type { FunctionComponent, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callApi } from '../../../api.ts'
import { Card } from '../../../components/card.tsx'
import { type Tab, Tabs } from '../../../components/tabs.tsx'
import { useLoaded } from '../../../use-loaded.ts'
import type { Auth, Flow } from '../use-auth.ts'
import {
  MagicLinkForm,
  PasswordForm,
  PhoneForm,
  type SignInFormProps,
  SignUpForm,
} from './forms.tsx'
import { readLastSent, type Sent, SentNotice, saveLastSent } from './sent-notice.tsx'

const methods: readonly SignInMethod[] = [
  {
    name: 'sign-up',
    title: 'Sign up',
    form: SignUpForm,
    isOpen: (settings) => settings?.disable_signup !== true,
  },
  { name: 'password', title: 'Sign in', form: PasswordForm, isOpen: () => true },
  { name: 'magic-link', title: 'Magic link', form: MagicLinkForm, isOpen: () => true },
  {
    name: 'phone',
    title: 'Phone',
    form: PhoneForm,
    isOpen: (settings) => settings?.phone_enabled === true,
  },
]

/** The sign-in methods that this auth server has enabled. */
export function SignInCard({ auth }: { readonly auth: Auth }): JSX.Element | null {
  const settings = useLoaded((signal) => callApi<AuthSettings>('/auth/settings', { signal }), [])
  const known = settings.state === 'ready' ? settings.value : undefined
  const open = methods.filter(({ isOpen }) => isOpen(known))
  const [chosen, setChosen] = useState<SignInMethodName>('sign-up')
  const [sent, setSent] = useState(readLastSent)
  const method = open.find(({ name }) => name === chosen) ?? open[0]
  if (!method) return null
  const Form = method.form
  const remember = (next: Sent) => {
    saveLastSent(next)
    setSent(next)
  }
  return (
    <Card>
      <div class="stack">
        <Tabs label="Sign-in methods" tabs={open} shown={method.name} onShow={setChosen}>
          <Form key={method.name} client={auth.client} onSent={remember} />
        </Tabs>
        {sent && <SentNotice key={`${sent.kind} ${sent.to}`} client={auth.client} sent={sent} />}
        <FlowChoice flow={auth.flow} onChoose={auth.setFlow} />
      </div>
    </Card>
  )
}

const flows: readonly { readonly name: Flow; readonly title: string; readonly about: string }[] = [
  {
    name: 'implicit',
    title: 'Implicit',
    about: 'The link contains the tokens, in the fragment of the URL.',
  },
  {
    name: 'pkce',
    title: 'PKCE',
    about: 'The link contains a code that only this browser can exchange for tokens.',
  },
]

interface FlowChoiceProps {
  readonly flow: Flow
  readonly onChoose: (flow: Flow) => void
}

function FlowChoice({ flow, onChoose }: FlowChoiceProps): JSX.Element {
  return (
    <fieldset class="try-flows">
      <legend>Authentication flow of links</legend>
      {flows.map(({ name, title, about }) => (
        <label key={name}>
          <input
            type="radio"
            name="flow"
            checked={flow === name}
            onChange={() => flow !== name && onChoose(name)}
          />
          <span>
            <strong>{title}</strong>
            <span class="try-flow-about muted small">{about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

type SignInMethodName = 'sign-up' | 'password' | 'magic-link' | 'phone'

/** A sign-in method with its form. */
interface SignInMethod extends Tab<SignInMethodName> {
  readonly form: FunctionComponent<SignInFormProps>
  readonly isOpen: (settings: AuthSettings | undefined) => boolean
}

/** The part of `/settings` that decides which methods are offered. */
interface AuthSettings {
  readonly disable_signup: boolean
  readonly phone_enabled: boolean
}
