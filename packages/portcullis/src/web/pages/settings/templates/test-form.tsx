import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callApi } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { useSession } from '../../../session.ts'

/** Sends the template to an address of the operator. */
export function TestForm({ template }: { readonly template: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const { mailbox } = useSession().parts
  const send = async (form: FormData) => {
    const email = `${form.get('email') ?? ''}`.trim()
    await callApi('/api/settings/templates/test', { method: 'POST', body: { template, email } })
    const place = mailbox ? ' It is in the mailbox.' : ''
    showSuccess(`The mail server accepted the test email for ${email}.${place}`)
  }
  return (
    <>
      <Button size="small" icon="mailbox" onClick={() => setOpen(true)}>
        Send test email…
      </Button>
      {isOpen && (
        <FormDialog
          title="Send test email"
          action="Send"
          onSubmit={send}
          onClose={() => setOpen(false)}
        >
          <p class="muted">
            The auth server sends the message with example values. Its link and code do not work.
          </p>
          <Field label="Email address" hint="The test counts towards the email limit.">
            <input name="email" type="email" class="input" required autocomplete="email" />
          </Field>
        </FormDialog>
      )}
    </>
  )
}
