import type { JSX } from 'preact'
import { Field } from '../../../components/field.tsx'
import { orThrow, readText, StepForm } from '../step-form.tsx'
import type { WayProps } from './way.ts'

export function PhoneForm({ client, onSent }: WayProps): JSX.Element {
  const send = async (form: FormData) => {
    const phone = readText(form, 'phone').replaceAll(/[\s()-]/g, '')
    orThrow(await client.signInWithOtp({ phone }))
    onSent({ kind: 'sms', to: phone })
    return undefined
  }
  return (
    <StepForm action="Send me a code" kind="primary" onSubmit={send}>
      <Field label="Phone number" hint="With the country, such as +49 151 23456789.">
        <input class="input" type="tel" name="phone" required autocomplete="tel" />
      </Field>
    </StepForm>
  )
}
