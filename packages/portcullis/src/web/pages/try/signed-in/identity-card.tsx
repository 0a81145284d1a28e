import type { JSX } from 'preact'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Card } from '../../../components/card.tsx'
import { tellFailure } from '../../../components/toasts.tsx'
import { orThrow } from '../step-form.tsx'
import type { SignedInProps } from '../use-auth.ts'
import { parseClaims } from './claims.ts'

const methods: Readonly<Record<string, string>> = {
  password: 'password',
  otp: 'link or code',
  totp: 'authenticator app',
  recovery: 'recovery link',
  'email/signup': 'confirmed address',
}

export function IdentityCard({ auth: { client }, session }: SignedInProps): JSX.Element {
  const { user } = session
  const { aal, amr = [] } = parseClaims(session.access_token)
  const name = user.email || user.phone || user.id
  const signOut = (scope: 'local' | 'global') => async () => {
    const { error } = await client.signOut({ scope })
    if (error) tellFailure(error)
  }
  const fetchUser = async () => {
    try {
      orThrow(await client.getUser())
    } catch (error) {
      tellFailure(error)
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
              Signed in by {amr.map(({ method }) => methods[method] ?? method).join(' and ')}
            </p>
          </div>
          <Badge tone={aal === 'aal2' ? 'ok' : 'accent'}>
            {aal === 'aal2' ? 'Two factors (aal2)' : 'One factor (aal1)'}
          </Badge>
        </div>
        <p class="small">
          <span class="muted">User id</span> <code>{user.id}</code>
        </p>
        <div class="row">
          <Button onClick={signOut('local')}>Sign out</Button>
          <Button kind="quiet" onClick={signOut('global')}>
            Sign out everywhere
          </Button>
          <Button kind="quiet" onClick={fetchUser}>
            Ask who I am
          </Button>
        </div>
      </div>
    </Card>
  )
}
