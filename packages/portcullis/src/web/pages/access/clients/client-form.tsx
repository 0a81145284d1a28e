import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { NewOAuthClient, OAuthClient } from '../../../../console/routes/access-items.ts'
import { callApi } from '../../../api.ts'
import { Field, FieldError } from '../../../components/field.tsx'
import { SecretFormDialog, type ShownSecrets } from '../../../components/secrets-dialog.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { readLines, readText, readWords } from '../../../form-values.ts'
import { Check, Choices, createFieldFinder, MoreFields } from '../form-fields.tsx'
import { grantTypes, toClientName } from './client-names.ts'

interface ClientFormProps {
  /** Undefined: a new client is registered. */
  readonly client?: OAuthClient
  readonly onDone: () => unknown
  readonly onClose: () => void
}

const findField = createFieldFinder({
  redirect_uris: /redirect_uri/,
  client_name: /client_name/,
  client_uri: /client_uri/,
  logo_uri: /logo_uri/,
  scope: /^scope/,
})

export function ClientForm({ client, onDone, onClose }: ClientFormProps): JSX.Element {
  const [type, setType] = useState(client?.client_type ?? 'confidential')
  const save = async (form: FormData) => {
    const body = { ...readClient(form), ...(client === undefined && { client_type: type }) }
    const saved = await callApi<NewOAuthClient>(
      client === undefined ? '/api/access/clients' : `/api/access/clients/${client.client_id}`,
      { method: client === undefined ? 'POST' : 'PUT', body },
    )
    onDone()
    const done = client === undefined ? 'registered' : 'changed'
    showSuccess(`${toClientName(saved)} was ${done}.`)
    return toShown(saved)
  }
  return (
    <SecretFormDialog
      title={client === undefined ? 'Register OAuth client' : `Edit ${toClientName(client)}`}
      action={client === undefined ? 'Register' : 'Save'}
      findField={findField}
      onSubmit={save}
      onClose={onClose}
    >
      <Field label="Name" hint="The consent page shows it to users.">
        <input
          name="client_name"
          class="input"
          autocomplete="off"
          defaultValue={client?.client_name}
        />
      </Field>
      {client === undefined && (
        <Choices
          legend="Type"
          name="client_type"
          choices={types}
          chosen={type}
          onChoose={setType}
        />
      )}
      <Field
        label="Redirect URIs"
        hint="One per line. They are compared exactly; only addresses of this machine may use http."
      >
        <textarea
          name="redirect_uris"
          class="input mono"
          rows={3}
          spellcheck={false}
          placeholder="https://app.example.com/callback"
          defaultValue={client?.redirect_uris.join('\n')}
        />
      </Field>
      <GrantsField client={client} isPublic={type === 'public'} />
      <MoreFields title="More settings">
        <Field
          label="Scopes"
          hint="The scopes that the client may request, separated by spaces. Empty: all."
        >
          <input
            name="scope"
            class="input mono"
            autocomplete="off"
            spellcheck={false}
            defaultValue={client?.scope}
          />
        </Field>
        <Check
          name="dpop_bound_access_tokens"
          label="Bind access tokens to a key (DPoP)"
          hint="The client has to prove its key with each request, so a stolen token cannot be used."
          isChecked={client?.dpop_bound_access_tokens ?? false}
        />
        {type === 'confidential' && (
          <Field label="The client sends its secret">
            <select name="token_endpoint_auth_method" class="input">
              {authMethods.map(({ method, title }) => (
                <option
                  key={method}
                  value={method}
                  selected={method === client?.token_endpoint_auth_method}
                >
                  {title}
                </option>
              ))}
            </select>
          </Field>
        )}
        <Field label="Website">
          <input
            name="client_uri"
            class="input"
            autocomplete="off"
            placeholder="https://"
            defaultValue={client?.client_uri}
          />
        </Field>
        <Field label="Logo URL">
          <input
            name="logo_uri"
            class="input"
            autocomplete="off"
            placeholder="https://"
            defaultValue={client?.logo_uri}
          />
        </Field>
      </MoreFields>
    </SecretFormDialog>
  )
}

const authMethods = [
  { method: 'client_secret_basic', title: 'in the Authorization header' },
  { method: 'client_secret_post', title: 'in the body of the request' },
] as const

function readClient(form: FormData) {
  const grants = form.getAll('grant_types').map(String)
  const uris = readLines(form, 'redirect_uris')
  if (grants.length === 0) throw new Error('Select at least one way to get tokens.')
  if (grants.includes('authorization_code') && uris.length === 0) {
    throw new FieldError(
      'redirect_uris',
      'Enter at least one redirect URI, or do not let the client sign users in.',
    )
  }
  const method = readText(form, 'token_endpoint_auth_method')
  return {
    client_name: readText(form, 'client_name'),
    redirect_uris: uris,
    grant_types: grants,
    scope: readWords(form, 'scope').join(' '),
    client_uri: readText(form, 'client_uri'),
    logo_uri: readText(form, 'logo_uri'),
    dpop_bound_access_tokens: form.has('dpop_bound_access_tokens'),
    ...(method !== '' && { token_endpoint_auth_method: method }),
  }
}

/** Undefined for a public client, which has no secret. */
export function toShown(client: NewOAuthClient): ShownSecrets | undefined {
  const { client_id: id, client_secret: secret } = client
  if (secret === undefined) return undefined
  return {
    title: toClientName(client),
    about: 'The secret is shown only here. Store it in the configuration of the application.',
    secrets: { 'Client ID': id, 'Client secret': secret },
  }
}

const types = [
  {
    value: 'confidential',
    title: 'Confidential',
    hint: 'It runs on a server and can keep a secret.',
  },
  { value: 'public', title: 'Public', hint: 'A browser, mobile or desktop app: it has no secret.' },
] as const

interface GrantsFieldProps {
  readonly client: OAuthClient | undefined
  readonly isPublic: boolean
}

/** The grants that the auth server allows only for confidential clients. */
const trusted: readonly string[] = [
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:token-exchange',
]

function GrantsField({ client, isPublic }: GrantsFieldProps): JSX.Element {
  const chosen = client?.grant_types ?? grantTypes.slice(0, 2).map(({ type }) => type)
  return (
    <fieldset class="choices">
      <legend>The client can</legend>
      {grantTypes
        .filter(({ type }) => !isPublic || !trusted.includes(type))
        .map(({ type, title, hint }) => (
          <Check
            key={type}
            name="grant_types"
            value={type}
            label={title}
            hint={hint}
            isChecked={chosen.includes(type)}
          />
        ))}
    </fieldset>
  )
}
