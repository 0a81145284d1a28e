import type { JSX } from 'preact'
import type { AccessAddresses, CustomProvider } from '../../../../console/routes/access-items.ts'
import { callApi, isNotFound } from '../../../api.ts'
import { Empty } from '../../../components/states.tsx'
import { useLoaded } from '../../../use-loaded.ts'
import { FeatureState, features } from '../feature-state.tsx'
import { Age, Back, CopyFact, Fact, Facts } from '../item-facts.tsx'
import { EnabledState, ProviderCard } from '../provider-card.tsx'
import type { AccessAddress } from '../use-access-address.ts'
import { ProviderForm } from './provider-form.tsx'

interface ProviderDetailsProps {
  readonly identifier: string
  readonly address: AccessAddress
}

function toPath(identifier: string): string {
  return `/api/access/providers/${encodeURIComponent(identifier)}`
}

export function ProviderDetails({ identifier, address }: ProviderDetailsProps): JSX.Element {
  const loaded = useLoaded(
    async (signal) => {
      const [provider, addresses] = await Promise.all([
        callApi<CustomProvider>(toPath(identifier), { signal }),
        callApi<AccessAddresses>('/api/access/addresses', { signal }),
      ])
      return { provider, callbackUrl: provider.callback_url ?? addresses.callback_url }
    },
    [identifier],
  )
  return (
    <>
      <Back href={address.toHref({ id: '' })}>All custom providers</Back>
      {loaded.state === 'failed' && isNotFound(loaded.error) ? (
        <Empty icon="key" title="Custom provider not found">
          The provider was deleted, or its name in the URL is wrong.
        </Empty>
      ) : (
        <FeatureState feature={features.customProviders} loaded={loaded}>
          {({ provider, callbackUrl }) => (
            <Provider
              provider={provider}
              callbackUrl={callbackUrl}
              onChanged={loaded.reload}
              onDeleted={() => address.go({ id: '' }, { isReplacing: true })}
            />
          )}
        </FeatureState>
      )}
    </>
  )
}

interface ProviderProps {
  readonly provider: CustomProvider
  readonly callbackUrl: string
  readonly onChanged: () => unknown
  readonly onDeleted: () => void
}

function Provider({ provider, callbackUrl, onChanged, onDeleted }: ProviderProps): JSX.Element {
  const { name, identifier } = provider
  return (
    <ProviderCard
      title={name}
      subject={name}
      path={toPath(identifier)}
      isEnabled={provider.enabled}
      toSwitch={(enabled) => ({ enabled })}
      renderForm={(onClose) => (
        <ProviderForm
          provider={provider}
          callbackUrl={callbackUrl}
          onDone={onChanged}
          onClose={onClose}
        />
      )}
      deletion={{
        title: `Delete ${name}?`,
        consequences: 'Users can no longer sign in with this provider. They keep their accounts.',
      }}
      onChanged={onChanged}
      onDeleted={onDeleted}
    >
      <ProviderFacts provider={provider} callbackUrl={callbackUrl} />
    </ProviderCard>
  )
}

type FactsProps = Pick<ProviderProps, 'provider' | 'callbackUrl'>

function ProviderFacts({ provider, callbackUrl }: FactsProps): JSX.Element {
  const { issuer, discovery_url: discoveryUrl, scopes, attribute_mapping: mapping } = provider
  const addresses: readonly (readonly [string, string | undefined])[] = [
    ['Issuer', issuer],
    ['Discovery URL', discoveryUrl],
    ['Authorization URL', provider.authorization_url],
    ['Token URL', provider.token_url],
    ['User info URL', provider.userinfo_url],
    ['Key set URL', provider.jwks_uri],
  ]
  return (
    <Facts>
      <Fact name="State">
        <EnabledState isEnabled={provider.enabled} />
      </Fact>
      <CopyFact name="Provider parameter" value={provider.identifier} />
      <CopyFact name="Callback URL" value={callbackUrl} />
      {addresses.map(
        ([name, value]) =>
          value !== undefined && (
            <Fact key={name} name={name}>
              <span class="mono">{value}</span>
            </Fact>
          ),
      )}
      <Fact name="Client ID">
        <span class="mono">
          {[provider.client_id, ...provider.acceptable_client_ids].join(', ')}
        </span>
      </Fact>
      <Fact name="Scopes">
        {scopes.length === 0 ? (
          <span class="muted">those of the provider</span>
        ) : (
          <span class="mono">{scopes.join(' ')}</span>
        )}
      </Fact>
      <Fact name="Attribute mapping">
        {Object.keys(mapping).length === 0 ? (
          <span class="muted">standard claims</span>
        ) : (
          <pre class="code-block">{JSON.stringify(mapping, null, 2)}</pre>
        )}
      </Fact>
      <Fact name="Added">
        <Age time={provider.created_at} />
      </Fact>
    </Facts>
  )
}
