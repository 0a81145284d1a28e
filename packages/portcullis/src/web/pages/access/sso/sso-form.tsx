import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { SsoProvider } from '../../../../console/routes/access-items.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { readJsonObject, readText, readWords } from '../../../form-values.ts'
import { Choices, createFieldFinder, MoreFields } from '../form-fields.tsx'

interface SsoFormProps {
  /** Undefined: a new provider is added. */
  readonly provider?: SsoProvider
  readonly onDone: () => unknown
  readonly onClose: () => void
}

type Source = 'url' | 'xml'

const findField = createFieldFinder({
  domains: /domain/i,
  attribute_mapping: /^attribute_mapping/,
  name_id_format: /^name_id_format/,
  metadata: /metadata|EntityID|entity ID|certificate/i,
})

export function SsoForm({ provider, onDone, onClose }: SsoFormProps): JSX.Element {
  const hasUrl = provider === undefined || provider.saml.metadata_url !== undefined
  const [source, setSource] = useState<Source>(hasUrl ? 'url' : 'xml')
  const save = async (form: FormData) => {
    const body = readProvider(form, source, provider)
    await callApi(provider === undefined ? '/api/access/sso' : `/api/access/sso/${provider.id}`, {
      method: provider === undefined ? 'POST' : 'PUT',
      body: provider === undefined ? { ...body, type: 'saml' } : body,
    })
    showSuccess(`The identity provider was ${provider === undefined ? 'added' : 'changed'}.`)
    onDone()
  }
  return (
    <FormDialog
      title={provider === undefined ? 'Add identity provider' : 'Edit identity provider'}
      action={provider === undefined ? 'Add' : 'Save'}
      findField={findField}
      onSubmit={save}
      onClose={onClose}
    >
      <Choices
        legend="Metadata of the identity provider"
        name="source"
        choices={sources}
        chosen={source}
        onChoose={setSource}
      />
      <MetadataField key={source} source={source} provider={provider} />
      <Field
        label="Domains"
        hint="Email domains whose users sign in here, separated by spaces or line breaks."
      >
        <textarea
          name="domains"
          class="input mono"
          rows={2}
          spellcheck={false}
          placeholder="example.com"
          defaultValue={provider?.domains.map(({ domain }) => domain).join('\n')}
        />
      </Field>
      <MoreFields title="Attribute mapping and more settings">
        <Field
          label="Attribute mapping"
          hint="JSON: the SAML attribute for each claim. Example: {&quot;email&quot;: {&quot;name&quot;: &quot;mail&quot;}}. A rule can have name or names, default and array."
        >
          <textarea
            name="attribute_mapping"
            class="input mono"
            rows={5}
            spellcheck={false}
            defaultValue={toMappingText(provider)}
          />
        </Field>
        <Field label="NameID format">
          <select name="name_id_format" class="input">
            {nameIdFormats.map(({ format, title }) => (
              <option
                key={format}
                value={format}
                selected={format === (provider?.saml.name_id_format ?? '')}
              >
                {title}
              </option>
            ))}
          </select>
        </Field>
      </MoreFields>
    </FormDialog>
  )
}

const nameIdFormats = [
  { format: '', title: 'Persistent (default)' },
  {
    format: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
    title: 'Email address',
  },
  { format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient', title: 'Transient' },
  { format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent', title: 'Persistent' },
  { format: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified', title: 'Unspecified' },
] as const

function toMappingText(provider: SsoProvider | undefined): string {
  const { keys = {} } = provider?.saml.attribute_mapping ?? {}
  return Object.keys(keys).length === 0 ? '' : JSON.stringify(keys, null, 2)
}

/** Metadata that is sent again would be fetched again, which a change of other fields must not depend on. */
function readProvider(form: FormData, source: Source, provider: SsoProvider | undefined) {
  const metadata = readText(form, 'metadata')
  const isNew = metadata !== '' && metadata !== provider?.saml.metadata_url
  const format = readText(form, 'name_id_format')
  return {
    ...(isNew && { [source === 'url' ? 'metadata_url' : 'metadata_xml']: metadata }),
    domains: readWords(form, 'domains'),
    attribute_mapping: { keys: readJsonObject(form, 'attribute_mapping') },
    ...(format !== '' && { name_id_format: format }),
  }
}

const sources = [
  {
    value: 'url',
    title: 'Metadata URL',
    hint: 'The server reads it now and daily, so new certificates are accepted.',
  },
  { value: 'xml', title: 'Metadata XML', hint: 'For identity providers without a public URL.' },
] as const

interface MetadataFieldProps {
  readonly source: Source
  readonly provider: SsoProvider | undefined
}

function MetadataField({ source, provider }: MetadataFieldProps): JSX.Element {
  const isNew = provider === undefined
  if (source === 'url') {
    return (
      <Field label="URL" hint="It must begin with https.">
        <input
          name="metadata"
          class="input mono"
          type="url"
          autocomplete="off"
          placeholder="https://"
          required={isNew}
          defaultValue={provider?.saml.metadata_url}
        />
      </Field>
    )
  }
  return (
    <Field
      label="XML"
      hint={isNew ? 'An EntityDescriptor.' : 'Leave empty to keep the present metadata.'}
    >
      <textarea name="metadata" class="input mono" rows={6} spellcheck={false} required={isNew} />
    </Field>
  )
}
