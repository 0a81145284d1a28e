import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey, NewApiKey, ServiceAccount } from '../../../../console/routes/access-items.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field, FieldError } from '../../../components/field.tsx'
import { SecretFormDialog, type ShownSecrets } from '../../../components/secrets-dialog.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { readText, readWords } from '../../../form-values.ts'
import { createFieldFinder, OverlapField } from '../form-fields.tsx'

interface FormProps {
  readonly onDone: () => unknown
  readonly onClose: () => void
}

interface KeyFormProps extends FormProps {
  readonly accounts: readonly ServiceAccount[]
  /** The owner that is chosen at first. */
  readonly userId: string | undefined
  readonly accountId: string | undefined
}

const findField = createFieldFinder({
  name: /^name/,
  scopes: /^scopes/,
  plan: /^plan/,
  expires_on: /^expires_at/,
  user_id: /owner/,
})

const ofUser = 'user'

export function KeyForm(props: KeyFormProps): JSX.Element {
  const { accounts, userId, accountId, onDone, onClose } = props
  const firstOwner = userId === undefined ? (accountId ?? accounts[0]?.id ?? ofUser) : ofUser
  const [owner, setOwner] = useState(firstOwner)
  const create = async (form: FormData) => {
    const plan = readText(form, 'plan')
    const expiry = readExpiry(form)
    const key = await callApi<NewApiKey>('/api/access/keys', {
      method: 'POST',
      body: {
        name: readText(form, 'name'),
        scopes: readWords(form, 'scopes'),
        ...(owner === ofUser
          ? { user_id: readText(form, 'user_id') }
          : { service_account_id: owner }),
        ...(plan !== '' && { plan }),
        ...(expiry !== undefined && { expires_at: expiry }),
      },
    })
    onDone()
    return toShown(key)
  }
  return (
    <SecretFormDialog
      title="Create API key"
      action="Create"
      findField={findField}
      onSubmit={create}
      onClose={onClose}
    >
      <Field label="Name" hint="What the key is for, such as: nightly report.">
        <input name="name" class="input" autocomplete="off" required />
      </Field>
      <Field label="Owner">
        <select
          name="owner"
          class="input"
          value={owner}
          onChange={(event) => setOwner(event.currentTarget.value)}
        >
          {accounts.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          <option value={ofUser}>A user…</option>
        </select>
      </Field>
      {owner === ofUser && (
        <Field label="User ID" hint="Copy it from the page Users.">
          <input
            name="user_id"
            class="input mono"
            autocomplete="off"
            spellcheck={false}
            required
            defaultValue={userId}
          />
        </Field>
      )}
      <Field label="Scopes" hint="What the key allows, separated by spaces. Your APIs check them.">
        <input
          name="scopes"
          class="input mono"
          autocomplete="off"
          spellcheck={false}
          placeholder="reports:read"
        />
      </Field>
      <ExpiryFields />
      <Field label="Plan" hint="Optional: for rate limits. Empty: the plan of the owner.">
        <input name="plan" class="input" autocomplete="off" />
      </Field>
    </SecretFormDialog>
  )
}

const lifetimes = [
  { days: 30, title: 'In 30 days' },
  { days: 90, title: 'In 90 days' },
  { days: 365, title: 'In a year' },
] as const
const onDate = 'date'
const dayMs = 86_400_000

function ExpiryFields(): JSX.Element {
  const [choice, setChoice] = useState('90')
  return (
    <>
      <Field label="Expires">
        <select
          name="lifetime"
          class="input"
          value={choice}
          onChange={(event) => setChoice(event.currentTarget.value)}
        >
          {lifetimes.map(({ days, title }) => (
            <option key={days} value={days}>
              {title}
            </option>
          ))}
          <option value={onDate}>At the end of a day…</option>
          <option value="">Never</option>
        </select>
      </Field>
      {choice === onDate && (
        <Field label="Last day" hint="The key is valid until the end of this day.">
          <input name="expires_on" class="input" type="date" required />
        </Field>
      )}
    </>
  )
}

/** Returns undefined for a key that never expires. @throws {FieldError} if the day is over. */
function readExpiry(form: FormData): string | undefined {
  const choice = readText(form, 'lifetime')
  if (choice === '') return undefined
  if (choice !== onDate) return new Date(Date.now() + Number(choice) * dayMs).toISOString()
  const end = new Date(`${readText(form, 'expires_on')}T23:59:59`)
  if (end.getTime() > Date.now()) return end.toISOString()
  throw new FieldError('expires_on', 'Choose today or a later day.')
}

function toShown({ name, api_key: text }: NewApiKey): ShownSecrets {
  return {
    title: name,
    about: 'The key is shown only here. Store it in the configuration of the program.',
    secrets: { 'API key': text },
  }
}

interface OneKeyProps extends FormProps {
  readonly apiKey: ApiKey
}

export function RotateKeyForm({ apiKey, onDone, onClose }: OneKeyProps): JSX.Element {
  const rotate = async (form: FormData) => {
    const key = await callApi<NewApiKey>(`/api/access/keys/${apiKey.id}/rotate`, {
      method: 'POST',
      body: { overlap_seconds: Number(readText(form, 'overlap_seconds')) },
    })
    onDone()
    return toShown(key)
  }
  return (
    <SecretFormDialog
      title={`Rotate ${apiKey.name}`}
      action="Create new secret"
      onSubmit={rotate}
      onClose={onClose}
    >
      <OverlapField what="secret" />
    </SecretFormDialog>
  )
}

export function RevokeKeyForm({ apiKey, onDone, onClose }: OneKeyProps): JSX.Element {
  const revoke = async () => {
    await callApi(`/api/access/keys/${apiKey.id}`, { method: 'DELETE' })
    showSuccess(`${apiKey.name} was revoked.`)
    onDone()
  }
  return (
    <FormDialog
      title={`Revoke ${apiKey.name}?`}
      action="Revoke"
      kind="danger"
      onSubmit={revoke}
      onClose={onClose}
    >
      <p>The key and its tokens stop working within a second. This cannot be undone.</p>
    </FormDialog>
  )
}
