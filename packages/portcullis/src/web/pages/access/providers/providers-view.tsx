import type { JSX } from 'preact'
import type { AccessAddresses, CustomProvider } from '../../../../console/routes/access-items.ts'
import { callApi } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { Card } from '../../../components/card.tsx'
import { Empty } from '../../../components/states.tsx'
import { formatCountOf } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { FeatureState, features } from '../feature-state.tsx'
import { Age, CopyFact, Facts } from '../item-facts.tsx'
import { type Column, ItemList } from '../item-list.tsx'
import { EnabledState } from '../provider-card.tsx'
import type { AccessAddress } from '../use-access-address.ts'
import { ProviderDetails } from './provider-details.tsx'
import { ProviderForm } from './provider-form.tsx'

interface ViewProps {
  readonly address: AccessAddress
}

/** The providers of OpenID Connect and OAuth 2.0 that administrators have registered. */
export function ProvidersView({ address }: ViewProps): JSX.Element {
  const { id } = address
  return id === undefined ? (
    <Providers address={address} />
  ) : (
    <ProviderDetails key={id} identifier={id} address={address} />
  )
}

interface ProviderList {
  readonly providers: readonly CustomProvider[]
}

function Providers({ address }: ViewProps): JSX.Element {
  const { search, opened } = address
  const loaded = useLoaded(async (signal) => {
    const [{ providers }, addresses] = await Promise.all([
      callApi<ProviderList>('/api/access/providers', { signal }),
      callApi<AccessAddresses>('/api/access/addresses', { signal }),
    ])
    return { providers, callbackUrl: addresses.callback_url }
  }, [])
  return (
    <FeatureState feature={features.customProviders} loaded={loaded}>
      {({ providers, callbackUrl }) => (
        <>
          <ItemList
            title={formatCountOf(providers.length, 'custom provider')}
            plural="providers"
            items={providers}
            columns={toColumns(address)}
            toKey={(provider) => provider.id}
            toText={({ name, identifier, issuer = '' }) => `${name} ${identifier} ${issuer}`}
            search={search}
            onSearch={(q) => address.go({ q }, { isReplacing: true })}
            actions={
              <Button
                size="small"
                kind="primary"
                icon="plus"
                onClick={() => address.go({ new: 'provider' })}
              >
                Add provider
              </Button>
            }
            empty={
              <Empty icon="key" title="No custom providers yet">
                Users can sign in with any server of OpenID Connect or OAuth 2.0 that you add here.
                The built-in providers are in <a href="/settings?tab=providers">Settings</a>.
              </Empty>
            }
          />
          <Card title="For the provider">
            <Facts>
              <CopyFact name="Callback URL" value={callbackUrl} />
            </Facts>
          </Card>
          {opened === 'provider' && (
            <ProviderForm
              callbackUrl={callbackUrl}
              onDone={loaded.reload}
              onClose={() => address.go({ new: '' }, { isReplacing: true })}
            />
          )}
        </>
      )}
    </FeatureState>
  )
}

function toColumns(address: AccessAddress): readonly Column<CustomProvider>[] {
  return [
    {
      title: 'Provider',
      cell: ({ name, identifier }) => (
        <>
          <a class="access-name" href={address.toHref({ id: identifier })}>
            {name}
          </a>
          <div class="mono muted">{identifier}</div>
        </>
      ),
    },
    { title: 'State', cell: (provider) => <EnabledState isEnabled={provider.enabled} /> },
    {
      title: 'Protocol',
      class: 'nowrap',
      cell: ({ provider_type: type }) => (type === 'oidc' ? 'OpenID Connect' : 'OAuth 2.0'),
    },
    {
      title: 'Address',
      class: 'mono',
      cell: ({ issuer, authorization_url: url }) => issuer ?? url ?? '–',
    },
    { title: 'Changed', class: 'nowrap', cell: (provider) => <Age time={provider.updated_at} /> },
  ]
}
