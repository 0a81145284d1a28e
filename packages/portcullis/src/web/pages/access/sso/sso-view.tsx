import type { JSX } from 'preact'
import type { AccessAddresses, SsoProvider } from '../../../../console/routes/access-items.ts'
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
import { isEnabled, SsoDetails, toSsoName } from './sso-details.tsx'
import { SsoForm } from './sso-form.tsx'

interface ViewProps {
  readonly address: AccessAddress
}

/** The SAML identity providers of companies. */
export function SsoView({ address }: ViewProps): JSX.Element {
  const { id } = address
  return id === undefined ? (
    <SsoProviders address={address} />
  ) : (
    <SsoDetails key={id} id={id} address={address} />
  )
}

interface SsoList {
  readonly items: readonly SsoProvider[]
}

function SsoProviders({ address }: ViewProps): JSX.Element {
  const { search, opened } = address
  const loaded = useLoaded(async (signal) => {
    const [{ items }, addresses] = await Promise.all([
      callApi<SsoList>('/api/access/sso', { signal }),
      callApi<AccessAddresses>('/api/access/addresses', { signal }),
    ])
    return { items, addresses }
  }, [])
  return (
    <FeatureState feature={features.companySignIn} loaded={loaded}>
      {({ items, addresses }) => (
        <>
          <ItemList
            title={formatCountOf(items.length, 'identity provider')}
            plural="identity providers"
            items={items}
            columns={toColumns(address)}
            toKey={({ id }) => id}
            toText={(each) =>
              [each.saml.entity_id, each.id, ...each.domains.map(({ domain }) => domain)].join(' ')
            }
            search={search}
            onSearch={(q) => address.go({ q }, { isReplacing: true })}
            actions={
              <Button
                size="small"
                kind="primary"
                icon="plus"
                onClick={() => address.go({ new: 'sso' })}
              >
                Add identity provider
              </Button>
            }
            empty={
              <Empty icon="key" title="No identity providers yet">
                Add the SAML identity provider of a company. Its users then sign in with their
                company account, by the domain of their email address.
              </Empty>
            }
          />
          <Card title="For the identity provider">
            <Facts>
              <CopyFact name="Metadata URL" value={addresses.saml_entity_id} />
              <CopyFact name="Entity ID" value={addresses.saml_entity_id} />
              <CopyFact name="ACS URL" value={addresses.saml_acs_url} />
            </Facts>
          </Card>
          {opened === 'sso' && (
            <SsoForm
              onDone={loaded.reload}
              onClose={() => address.go({ new: '' }, { isReplacing: true })}
            />
          )}
        </>
      )}
    </FeatureState>
  )
}

function toColumns(address: AccessAddress): readonly Column<SsoProvider>[] {
  return [
    {
      title: 'Identity provider',
      cell: (provider) => (
        <>
          <a class="access-name" href={address.toHref({ id: provider.id })}>
            {toSsoName(provider)}
          </a>
          <div class="mono muted">{provider.saml.entity_id}</div>
        </>
      ),
    },
    { title: 'State', cell: (provider) => <EnabledState isEnabled={isEnabled(provider)} /> },
    {
      title: 'Domains',
      cell: ({ domains }) =>
        domains.map(({ domain }) => domain).join(', ') || <span class="muted">none</span>,
    },
    { title: 'Added', class: 'nowrap', cell: (provider) => <Age time={provider.created_at} /> },
  ]
}
