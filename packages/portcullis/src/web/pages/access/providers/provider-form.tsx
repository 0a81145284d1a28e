import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { CustomProvider } from '../../../../console/routes/access-items.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { readJsonObject, readText, readWords } from '../../../form-values.ts'
import { createFieldFinder } from '../form-fields.tsx'
import { CopyFact, Facts } from '../item-facts.tsx'
import { PlainUrls, ProviderMore, type ProviderType, TypeField, Url } from './provider-fields.tsx'

interface ProviderFormProps {
  /** Undefined: a new provider is added. */
  readonly provider?: CustomProvider
  readonly callbackUrl: string
  readonly onDone: () => unknown
  readonly onClose: () => void
}

const findField = createFieldFinder({
  discovery_url: /^discovery_url/,
  authorization_url: /^authorization_url/,
  token_url: /^token_url/,
  userinfo_url: /^userinfo_url/,
  jwks_uri: /^jwks_uri/,
  issuer: /^issuer|^OIDC discovery/,
  identifier: /identifier/,
  client_secret: /client_secret/,
  client_id: /client_id/,
  name: /^name/,
  attribute_mapping: /attribute_mapping|protected system field/,
  authorization_params: /reserved OAuth parameter|Authorization parameter/,
})

export function ProviderForm(props: ProviderFormProps): JSX.Element {
  const { provider, callbackUrl, onDone, onClose } = props
  const [type, setType] = useState<ProviderType>(provider?.provider_type ?? 'oidc')
  const save = async (form: FormData) => {
    const body = readProvider(form, provider)
    const saved =
      provider === undefined
        ? await callApi<CustomProvider>('/api/access/providers', {
            method: 'POST',
            body: {
              ...body,
              provider_type: type,
              identifier: `custom:${readText(form, 'identifier')}`,
            },
          })
        : await callApi<CustomProvider>(
            `/api/access/providers/${encodeURIComponent(provider.identifier)}`,
            { method: 'PUT', body },
          )
    showSuccess(`${saved.name} was ${provider === undefined ? 'added' : 'changed'}.`)
    onDone()
  }
  return (
    <FormDialog
      title={provider === undefined ? 'Add custom provider' : `Edit ${provider.name}`}
      action={provider === undefined ? 'Add' : 'Save'}
      findField={findField}
      onSubmit={save}
      onClose={onClose}
    >
      {provider === undefined && (
        <>
          <TypeField type={type} onType={setType} />
          <Facts>
            <CopyFact name="Callback URL" value={callbackUrl} />
          </Facts>
        </>
      )}
      <Field label="Name" hint="For your own lists.">
        <input
          name="name"
          class="input"
          autocomplete="off"
          required
          defaultValue={provider?.name}
        />
      </Field>
      {provider === undefined && (
        <Field
          label="Identifier"
          hint="Lower-case letters, digits and hyphens. Applications sign in with provider=custom:IDENTIFIER."
        >
          <input
            name="identifier"
            class="input mono"
            autocomplete="off"
            spellcheck={false}
            required
            placeholder="example"
          />
        </Field>
      )}
      {type === 'oidc' ? (
        <Url
          name="issuer"
          label="Issuer"
          hint="The server reads /.well-known/openid-configuration below it, and checks it now."
          value={provider?.issuer}
          isRequired
        />
      ) : (
        <PlainUrls provider={provider} />
      )}
      <Field label="Client ID">
        <input
          name="client_id"
          class="input mono"
          autocomplete="off"
          spellcheck={false}
          required
          defaultValue={provider?.client_id}
        />
      </Field>
      <Field
        label="Client secret"
        hint={
          provider === undefined
            ? 'Stored encrypted, and never shown again.'
            : 'Leave empty to keep the present one.'
        }
      >
        <input
          name="client_secret"
          class="input mono"
          type="password"
          autocomplete="new-password"
          required={provider === undefined}
        />
      </Field>
      <Field label="Scopes" hint="Separated by spaces.">
        <input
          name="scopes"
          class="input mono"
          autocomplete="off"
          spellcheck={false}
          placeholder={type === 'oidc' ? 'openid email profile' : ''}
          defaultValue={provider?.scopes.join(' ')}
        />
      </Field>
      <ProviderMore provider={provider} type={type} />
    </FormDialog>
  )
}

const urlNames = [
  'issuer',
  'discovery_url',
  'authorization_url',
  'token_url',
  'userinfo_url',
] as const

/** An issuer that is sent again would be discovered again, which a change of other fields must not depend on. */
function readProvider(form: FormData, provider: CustomProvider | undefined) {
  const changed = urlNames.flatMap((name) => {
    const value = readText(form, name)
    return value === '' || value === provider?.[name] ? [] : [[name, value] as const]
  })
  const secret = readText(form, 'client_secret')
  return {
    name: readText(form, 'name'),
    client_id: readText(form, 'client_id'),
    scopes: readWords(form, 'scopes'),
    acceptable_client_ids: readWords(form, 'acceptable_client_ids'),
    custom_claims_allowlist: readWords(form, 'custom_claims_allowlist'),
    attribute_mapping: readJsonObject(form, 'attribute_mapping'),
    authorization_params: readJsonObject(form, 'authorization_params'),
    pkce_enabled: form.has('pkce_enabled'),
    email_optional: form.has('email_optional'),
    skip_nonce_check: form.has('skip_nonce_check'),
    ...(secret !== '' && { client_secret: secret }),
    ...Object.fromEntries(changed),
  }
}
