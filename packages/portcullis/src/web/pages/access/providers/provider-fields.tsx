import type { JSX } from 'preact'
import type { CustomProvider } from '../../../../console/routes/access-items.ts'
import { Field } from '../../../components/field.tsx'
import { Check, Choices, MoreFields } from '../form-fields.tsx'

export type ProviderType = CustomProvider['provider_type']

interface UrlProps {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly value: string | undefined
  readonly isRequired?: boolean
}

export function Url({ name, label, hint, value, isRequired = false }: UrlProps): JSX.Element {
  return (
    <Field label={label} hint={hint}>
      <input
        name={name}
        class="input mono"
        type="url"
        autocomplete="off"
        placeholder="https://"
        required={isRequired}
        defaultValue={value}
      />
    </Field>
  )
}

interface PartProps {
  readonly provider: CustomProvider | undefined
}

export function PlainUrls({ provider }: PartProps): JSX.Element {
  return (
    <>
      <Url
        name="authorization_url"
        label="Authorization URL"
        value={provider?.authorization_url}
        isRequired
      />
      <Url name="token_url" label="Token URL" value={provider?.token_url} isRequired />
      <Url name="userinfo_url" label="User info URL" value={provider?.userinfo_url} isRequired />
    </>
  )
}

const types = [
  {
    value: 'oidc',
    title: 'OpenID Connect',
    hint: 'The server finds the addresses and keys of the provider by discovery.',
  },
  { value: 'oauth2', title: 'OAuth 2.0', hint: 'You enter the addresses of the provider.' },
] as const

interface TypeFieldProps {
  readonly type: ProviderType
  readonly onType: (type: ProviderType) => void
}

export function TypeField({ type, onType }: TypeFieldProps): JSX.Element {
  return (
    <Choices
      legend="Protocol"
      name="provider_type"
      choices={types}
      chosen={type}
      onChoose={onType}
    />
  )
}

/** The text of an object for a field; empty if there is nothing in it. */
function toText(value: Readonly<Record<string, unknown>> = {}): string {
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2)
}

export function ProviderMore({
  provider,
  type,
}: PartProps & { readonly type: ProviderType }): JSX.Element {
  const isOidc = type === 'oidc'
  return (
    <MoreFields title="Attribute mapping and more settings">
      <Field
        label="Attribute mapping"
        hint="JSON: the claim of the provider for each field of the user. Example: {&quot;email&quot;: &quot;mail&quot;}"
      >
        <textarea
          name="attribute_mapping"
          class="input mono"
          rows={4}
          spellcheck={false}
          defaultValue={toText(provider?.attribute_mapping)}
        />
      </Field>
      <Field
        label="Additional claims"
        hint="Claims that are stored for the user, separated by spaces."
      >
        <input
          name="custom_claims_allowlist"
          class="input mono"
          autocomplete="off"
          spellcheck={false}
          defaultValue={provider?.custom_claims_allowlist.join(' ')}
        />
      </Field>
      <Field
        label="Authorization parameters"
        hint="JSON: parameters of the authorization request. Example: {&quot;prompt&quot;: &quot;login&quot;}"
      >
        <textarea
          name="authorization_params"
          class="input mono"
          rows={3}
          spellcheck={false}
          defaultValue={toText(provider?.authorization_params)}
        />
      </Field>
      {isOidc && (
        <>
          <Url
            name="discovery_url"
            label="Discovery URL"
            hint="Only if the discovery document is not below the issuer."
            value={provider?.discovery_url}
          />
          <Field
            label="Other client IDs"
            hint="Further audiences of ID tokens, such as the client IDs of mobile apps."
          >
            <input
              name="acceptable_client_ids"
              class="input mono"
              autocomplete="off"
              spellcheck={false}
              defaultValue={provider?.acceptable_client_ids.join(' ')}
            />
          </Field>
          <Check
            name="skip_nonce_check"
            label="Do not check the nonce"
            hint="Only for providers whose apps cannot set one."
            isChecked={provider?.skip_nonce_check ?? false}
          />
        </>
      )}
      <Check name="pkce_enabled" label="Use PKCE" isChecked={provider?.pkce_enabled ?? true} />
      <Check
        name="email_optional"
        label="Accept users without an email address"
        isChecked={provider?.email_optional ?? false}
      />
    </MoreFields>
  )
}
