import type { AuthMFAEnrollTOTPResponse } from '@supabase/auth-js'
import type { ComponentChildren, JSX } from 'preact'
import { Button } from '../../../components/button.tsx'
import { CopyButton } from '../../../components/copy-button.tsx'
import { CodeField } from '../sign-in/fields.tsx'
import { StepForm } from '../step-form.tsx'

export type Enrolment = NonNullable<AuthMFAEnrollTOTPResponse['data']>

export interface EnrolmentStepsProps {
  readonly enrolment: Enrolment
  readonly onVerify: (form: FormData) => Promise<ComponentChildren>
  readonly onCancel: () => Promise<void>
}

export function EnrolmentSteps(props: EnrolmentStepsProps): JSX.Element {
  const { enrolment, onVerify, onCancel } = props
  const { totp } = enrolment
  return (
    <div class="try-enrolment">
      <img src={totp.qr_code} alt="QR code for the authenticator app" width="180" height="180" />
      <div class="stack grow">
        <p>Scan this with an authenticator app, or type the secret into it:</p>
        <div class="row tight">
          <code class="try-secret">{totp.secret}</code>
          <CopyButton text={totp.secret} label="Copy the secret" />
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
          <CodeField label="Code that the app shows" />
        </StepForm>
      </div>
    </div>
  )
}
