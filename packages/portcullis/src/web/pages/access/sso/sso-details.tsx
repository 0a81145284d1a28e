import type { JSX } from 'preact'
import type { AccessAddresses, SsoProvider } from '../../../../console/routes/access-items.ts'
import { callApi, isNotFound } from '../../../api.ts'
import { Empty } from '../../../components/states.tsx'
import { useLoaded } from '../../../use-loaded.ts'
import { FeatureState, features } from '../feature-state.tsx'
import { Age, Back, CopyFact, Fact, Facts } from '../item-facts.tsx'
import { EnabledState, ProviderCard } from '../provider-card.tsx'
import type { AccessAddress } from '../use-access-address.ts'
import { ScimCard } from './scim-card.tsx'
import { SsoForm } from './sso-form.tsx'

interface SsoDetailsProps {
  readonly id: string
  readonly address: AccessAddress
}

/** The first domain, which says more than an entity ID. */
export function toSsoName({ domains, saml }: SsoProvider): string {
  return domains[0]?.domain ?? saml.entity_id
}

export function isEnabled({ disabled }: SsoProvider): boolean {
  return disabled !== true
}

export function SsoDetails({ id, address }: SsoDetailsProps): JSX.Element {
  const loaded = useLoaded(
    async (signal) => {
      const [provider, addresses] = await Promise.all([
        callApi<SsoProvider>(`/api/access/sso/${encodeURIComponent(id)}`, { signal }),
        callApi<AccessAddresses>('/api/access/addresses', { signal }),
      ])
      return { provider, addresses }
    },
    [id],
  )
  return (
    <>
      <Back href={address.toHref({ id: '' })}>All identity providers</Back>
      {loaded.state === 'failed' && isNotFound(loaded.error) ? (
        <Empty icon="key" title="Identity provider not found">
          The identity provider was deleted, or the ID in the URL is wrong.
        </Empty>
      ) : (
        <FeatureState feature={features.companySignIn} loaded={loaded}>
          {({ provider, addresses }) => (
            <>
              <Provider
                provider={provider}
                onChanged={loaded.reload}
                onDeleted={() => address.go({ id: '' }, { isReplacing: true })}
              />
              <ScimCard providerId={provider.id} scimUrl={addresses.scim_url} />
            </>
          )}
        </FeatureState>
      )}
    </>
  )
}

interface ProviderProps {
  readonly provider: SsoProvider
  readonly onChanged: () => unknown
  readonly onDeleted: () => void
}

function Provider({ provider, onChanged, onDeleted }: ProviderProps): JSX.Element {
  const name = toSsoName(provider)
  return (
    <ProviderCard
      title={name}
      subject="The identity provider"
      path={`/api/access/sso/${provider.id}`}
      isEnabled={isEnabled(provider)}
      toSwitch={(wanted) => ({ disabled: !wanted })}
      renderForm={(onClose) => <SsoForm provider={provider} onDone={onChanged} onClose={onClose} />}
      deletion={{
        title: `Delete the identity provider of ${name}?`,
        consequences:
          'Its users keep their accounts, but can no longer sign in with it, and its SCIM tokens stop working.',
      }}
      onChanged={onChanged}
      onDeleted={onDeleted}
    >
      <ProviderFacts provider={provider} />
    </ProviderCard>
  )
}

function ProviderFacts({ provider }: Pick<ProviderProps, 'provider'>): JSX.Element {
  const { id, saml, domains } = provider
  const { keys = {} } = saml.attribute_mapping
  return (
    <Facts>
      <Fact name="State">
        <EnabledState isEnabled={isEnabled(provider)} />
      </Fact>
      <CopyFact name="Provider ID" value={id} />
      <Fact name="Entity ID">
        <span class="mono">{saml.entity_id}</span>
      </Fact>
      <Fact name="Metadata">
        {saml.metadata_url === undefined ? (
          'entered as XML'
        ) : (
          <span class="mono">{saml.metadata_url}</span>
        )}
      </Fact>
      <Fact name="Domains">
        {domains.length === 0 ? (
          <span class="muted">none: users sign in with the provider ID</span>
        ) : (
          domains.map(({ domain }) => domain).join(', ')
        )}
      </Fact>
      {saml.name_id_format !== undefined && (
        <Fact name="NameID format">
          <span class="mono">{saml.name_id_format}</span>
        </Fact>
      )}
      <Fact name="Attribute mapping">
        {Object.keys(keys).length === 0 ? (
          <span class="muted">none: only the email address is read</span>
        ) : (
          <pre class="code-block">{JSON.stringify(keys, null, 2)}</pre>
        )}
      </Fact>
      <Fact name="Added">
        <Age time={provider.created_at} />
      </Fact>
    </Facts>
  )
}
