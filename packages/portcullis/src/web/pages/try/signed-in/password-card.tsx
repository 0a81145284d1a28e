import type { JSX } from 'preact'
import { Card } from '../../../components/card.tsx'
import { Notice } from '../../../components/states.tsx'
import { PasswordField } from '../sign-in/fields.tsx'
import { orThrow, StepForm } from '../step-form.tsx'
import type { SignedInProps } from '../use-auth.ts'

export function PasswordCard({ auth, session }: SignedInProps): JSX.Element {
  const { client, isRecovering } = auth
  const name = session.user.email ?? session.user.phone ?? ''
  const change = async (form: FormData) => {
    orThrow(await client.updateUser({ password: String(form.get('password')) }))
    return <Notice tone="ok">Next time sign in with the new password.</Notice>
  }
  return (
    <Card title={isRecovering ? 'Set a new password' : 'Change the password'}>
      <StepForm action="Change it" onSubmit={change}>
        {/* Password managers ask for whom it is. */}
        <input hidden type="text" name="username" autocomplete="username" value={name} />
        <PasswordField label="New password" isNew />
      </StepForm>
    </Card>
  )
}
