import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callApi } from '../../../api.ts'
import { Card } from '../../../components/card.tsx'
import { Tabs } from '../../../components/tabs.tsx'
import { useLoaded } from '../../../use-loaded.ts'
import type { Auth } from '../use-auth.ts'
import { FlowChoice } from './flow-choice.tsx'
import { MagicLinkForm } from './magic-link-form.tsx'
import { PasswordForm } from './password-form.tsx'
import { PhoneForm } from './phone-form.tsx'
import { readLastSent, type Sent, saveLastSent } from './sent.ts'
import { SentNotice } from './sent-notice.tsx'
import { SignUpForm } from './sign-up-form.tsx'
import type { AuthSettings, Way, WayName } from './way.ts'

const ways: readonly Way[] = [
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

/** The ways in that this auth server has. */
export function SignInCard({ auth }: { readonly auth: Auth }): JSX.Element | null {
  const settings = useLoaded((signal) => callApi<AuthSettings>('/auth/settings', { signal }), [])
  const known = settings.state === 'ready' ? settings.value : undefined
  const open = ways.filter(({ isOpen }) => isOpen(known))
  const [chosen, setChosen] = useState<WayName>('sign-up')
  const [sent, setSent] = useState(readLastSent)
  const way = open.find(({ name }) => name === chosen) ?? open[0]
  if (!way) return null
  const Form = way.form
  const tellSent = (next: Sent) => {
    saveLastSent(next)
    setSent(next)
  }
  return (
    <Card>
      <div class="stack">
        <Tabs label="Ways in" tabs={open} shown={way.name} onShow={setChosen}>
          <Form key={way.name} client={auth.client} onSent={tellSent} />
        </Tabs>
        {sent && <SentNotice key={`${sent.kind} ${sent.to}`} client={auth.client} sent={sent} />}
        <FlowChoice flow={auth.flow} onChoose={auth.setFlow} />
      </div>
    </Card>
  )
}
