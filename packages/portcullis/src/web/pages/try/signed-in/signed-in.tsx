import type { JSX } from 'preact'
import type { SignedInProps } from '../use-auth.ts'
import { PasswordCard } from './password-card.tsx'
import { SecondFactorCard } from './second-factor-card.tsx'
import { TokenCard } from './token-card.tsx'

/** What somebody who is signed in can do with their account. */
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
