import type { JSX } from 'preact'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Card } from '../../../components/card.tsx'
import { Notice } from '../../../components/states.tsx'
import { showFailure } from '../../../components/toasts.tsx'
import { orThrow, PasswordField, StepForm } from '../step-form.tsx'
import type { SignedInProps } from '../use-auth.ts'
import { SecondFactorCard } from './second-factor-card.tsx'
import { parseClaims, TokenCard } from './token-card.tsx'

/** The account settings of the signed-in user. */
export function SignedIn({ auth, session }: SignedInProps): JSX.Element {
  return (
    <>
      {auth.isRecovering && <PasswordCard auth={auth} session={session} />}
      <SecondFactorCard auth={auth} session={session} />
      <TokenCard auth={auth} session={session} />
      {!auth.isRecovering && <PasswordCard auth={auth} session={session} />}
    </>
  )
}

const methods: Readonly<Record<string, string>> = {
  password: 'password',
  otp: 'link or one-time code',
  totp: 'authenticator app',
  recovery: 'recovery link',
  'email/signup': 'email confirmation',
}

export function IdentityCard({ auth: { client }, session }: SignedInProps): JSX.Element {
  const { user } = session
  const { aal, amr = [] } = parseClaims(session.access_token)
  const name = user.email || user.phone || user.id
  const signOut = (scope: 'local' | 'global') => async () => {
    const { error } = await client.signOut({ scope })
    if (error) showFailure(error)
  }
  const fetchUser = async () => {
    try {
      orThrow(await client.getUser())
    } catch (error) {
      showFailure(error)
    }
  }
  return (
    <Card>
      <div class="stack">
        <div class="try-identity">
          <span class="try-avatar" aria-hidden="true">
            {name.slice(0, 1).toUpperCase()}
          </span>
          <div class="grow">
            <h2>{name}</h2>
            <p class="muted small">
              Signed in with {amr.map(({ method }) => methods[method] ?? method).join(' and ')}
            </p>
          </div>
          <Badge tone={aal === 'aal2' ? 'ok' : 'accent'}>
            {aal === 'aal2' ? 'Two factors (aal2)' : 'One factor (aal1)'}
          </Badge>
        </div>
        <p class="small">
          <span class="muted">User ID</span> <code>{user.id}</code>
        </p>
        <div class="row">
          <Button onClick={signOut('local')}>Sign out</Button>
          <Button kind="quiet" onClick={signOut('global')}>
            Sign out everywhere
          </Button>
          <Button kind="quiet" onClick={fetchUser}>
            Fetch user
          </Button>
        </div>
      </div>
    </Card>
  )
}

function PasswordCard({ auth, session }: SignedInProps): JSX.Element {
  const { client, isRecovering } = auth
  const name = session.user.email ?? session.user.phone ?? ''
  const change = async (form: FormData) => {
    orThrow(await client.updateUser({ password: String(form.get('password')) }))
    return <Notice tone="ok">Password changed. Use it the next time you sign in.</Notice>
  }
  return (
    <Card title={isRecovering ? 'Set a new password' : 'Change password'}>
      <StepForm action={isRecovering ? 'Set password' : 'Change password'} onSubmit={change}>
        {/* Password managers need the user name. */}
        <input hidden type="text" name="username" autocomplete="username" value={name} />
        <PasswordField label="New password" isNew />
      </StepForm>
    </Card>
  )
}
