import type { AuthMFAEnrollTOTPResponse, Factor } from '@supabase/auth-js'
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Badge } from '../../../components/badge.tsx'
import { Button, CopyButton } from '../../../components/button.tsx'
import { Card } from '../../../components/card.tsx'
import { Failure, Loading } from '../../../components/states.tsx'
import { showFailure, showSuccess } from '../../../components/toasts.tsx'
import { readText } from '../../../form-values.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { CodeField, orThrow, StepForm } from '../step-form.tsx'
import type { SignedInProps } from '../use-auth.ts'
import { parseClaims } from './token-card.tsx'

/** Sets up, verifies and removes authenticator apps. */
export function SecondFactorCard({ auth: { client }, session }: SignedInProps): JSX.Element {
  const [enrolment, setEnrolment] = useState<Enrolment>()
  // Verifying a factor gives a new token, after which the list has changed.
  const factors = useLoaded(
    async () => orThrow(await client.mfa.listFactors()).all,
    [session.access_token],
  )
  const isProven = parseClaims(session.access_token).aal === 'aal2'

  const enrol = async () => {
    try {
      const friendlyName = `App, ${new Date().toISOString().slice(0, 19).replace('T', ' ')}`
      setEnrolment(orThrow(await client.mfa.enroll({ factorType: 'totp', friendlyName })))
    } catch (error) {
      showFailure(error)
    }
  }
  const verify = (factorId: string) => async (form: FormData) => {
    const code = readText(form, 'code')
    orThrow(await client.mfa.challengeAndVerify({ factorId, code }))
    setEnrolment(undefined)
    showSuccess('Second factor verified. The new token has aal2.')
    return undefined
  }
  const remove = async (factorId: string) => {
    try {
      orThrow(await client.mfa.unenroll({ factorId }))
      setEnrolment(undefined)
      // The token contains outdated claims until it is refreshed.
      orThrow(await client.refreshSession())
    } catch (error) {
      showFailure(error)
    }
    factors.reload()
  }

  if (factors.state === 'loading') return <Loading />
  if (factors.state === 'failed') return <Failure error={factors.error} onRetry={factors.reload} />
  const others = factors.value.filter(({ id }) => id !== enrolment?.id)
  const first = others.find(({ status }) => status === 'verified')
  return (
    <Card
      title="Second factor"
      actions={
        !enrolment && (
          <Button size="small" icon="plus" onClick={enrol}>
            Set up app
          </Button>
        )
      }
    >
      <div class="stack">
        {factors.value.length === 0 && !enrolment && (
          <p class="muted">
            No second factor yet. Set up an authenticator app, so that a stolen password alone is
            not enough to sign in.
          </p>
        )}
        {others.length > 0 && (
          <ul class="stack tight">
            {others.map((factor) => (
              <FactorRow key={factor.id} factor={factor} onRemove={() => remove(factor.id)} />
            ))}
          </ul>
        )}
        {first && !isProven && !enrolment && (
          <StepForm action="Verify" kind="primary" onSubmit={verify(first.id)}>
            <CodeField label="One-time code of the app, to reach aal2" />
          </StepForm>
        )}
        {enrolment && (
          <EnrolmentSteps
            enrolment={enrolment}
            onVerify={verify(enrolment.id)}
            onCancel={() => remove(enrolment.id)}
          />
        )}
      </div>
    </Card>
  )
}

interface FactorRowProps {
  readonly factor: Factor
  readonly onRemove: () => Promise<void>
}

function FactorRow({ factor, onRemove }: FactorRowProps): JSX.Element {
  const isVerified = factor.status === 'verified'
  const name = factor.friendly_name ?? 'Authenticator app'
  return (
    <li class="row">
      <span class="grow">{name}</span>
      <Badge tone={isVerified ? 'ok' : 'warn'}>{isVerified ? 'Verified' : 'Unverified'}</Badge>
      <Button size="small" icon="trash" label={`Remove ${name}`} onClick={onRemove}>
        Remove
      </Button>
    </li>
  )
}

type Enrolment = NonNullable<AuthMFAEnrollTOTPResponse['data']>

interface EnrolmentStepsProps {
  readonly enrolment: Enrolment
  readonly onVerify: (form: FormData) => Promise<ComponentChildren>
  readonly onCancel: () => Promise<void>
}

function EnrolmentSteps(props: EnrolmentStepsProps): JSX.Element {
  const { enrolment, onVerify, onCancel } = props
  const { totp } = enrolment
  return (
    <div class="try-enrolment">
      <img src={totp.qr_code} alt="QR code for the authenticator app" width="180" height="180" />
      <div class="stack grow">
        <p>Scan the QR code with an authenticator app, or enter the secret:</p>
        <div class="row tight">
          <code class="try-secret">{totp.secret}</code>
          <CopyButton text={totp.secret} label="Copy secret" />
        </div>
        <StepForm
          action="Verify"
          kind="primary"
          onSubmit={onVerify}
          more={
            <Button kind="quiet" onClick={onCancel}>
              Cancel
            </Button>
          }
        >
          <CodeField label="One-time code of the app" />
        </StepForm>
      </div>
    </div>
  )
}
