import type { JSX } from 'preact'
import type { OAuthClient } from '../../../../console/routes/access-items.ts'
import { callApiWithHeaders } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Empty } from '../../../components/states.tsx'
import { formatCountOf } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { FeatureState, features } from '../feature-state.tsx'
import { Age } from '../item-facts.tsx'
import { type Column, ItemList, Pages, pageSize } from '../item-list.tsx'
import type { AccessAddress } from '../use-access-address.ts'
import { ClientDetails } from './client-details.tsx'
import { ClientForm } from './client-form.tsx'
import { toClientName } from './client-names.ts'

interface ViewProps {
  readonly address: AccessAddress
}

/** The applications that sign users in with the auth server. */
export function ClientsView({ address }: ViewProps): JSX.Element {
  const { id } = address
  return id === undefined ? (
    <Clients address={address} />
  ) : (
    <ClientDetails key={id} id={id} address={address} />
  )
}

function Clients({ address }: ViewProps): JSX.Element {
  const { page, search, opened } = address
  const loaded = useLoaded(
    async (signal) => {
      const query = new URLSearchParams({ page: `${page}`, per_page: `${pageSize}` })
      const { body, headers } = await callApiWithHeaders<{
        readonly clients: readonly OAuthClient[]
      }>(`/api/access/clients?${query}`, { signal })
      const { clients } = body
      return { clients, total: Number(headers.get('x-total-count') ?? clients.length) }
    },
    [page],
  )
  const create = () => address.go({ new: 'client' })
  return (
    <FeatureState feature={features.oauthServer} loaded={loaded}>
      {({ clients, total }) => (
        <>
          <ItemList
            title={formatCountOf(total, 'OAuth client')}
            plural="clients"
            items={clients}
            columns={toColumns(address)}
            toKey={(client) => client.client_id}
            toText={(client) =>
              [client.client_name, client.client_id, ...client.redirect_uris].join(' ')
            }
            search={search}
            onSearch={(q) => address.go({ q }, { isReplacing: true })}
            actions={
              <Button size="small" kind="primary" icon="plus" onClick={create}>
                Register client
              </Button>
            }
            empty={
              <Empty icon="key" title="No OAuth clients yet">
                A client is an application that signs users in with this server, or calls APIs with
                its tokens.
              </Empty>
            }
          >
            <Pages
              page={page}
              total={total}
              plural="clients"
              onPage={(next) => address.go({ page: `${next}` })}
            />
          </ItemList>
          {opened === 'client' && (
            <ClientForm
              onDone={loaded.reload}
              onClose={() => address.go({ new: '' }, { isReplacing: true })}
            />
          )}
        </>
      )}
    </FeatureState>
  )
}

function toColumns(address: AccessAddress): readonly Column<OAuthClient>[] {
  return [
    {
      title: 'Client',
      cell: (client) => (
        <>
          <a class="access-name" href={address.toHref({ id: client.client_id })}>
            {toClientName(client)}
          </a>
          <div class="mono muted nowrap">{client.client_id}</div>
        </>
      ),
    },
    {
      title: 'Type',
      class: 'nowrap',
      cell: (client) => (
        <>
          {client.client_type === 'public' ? 'Public' : 'Confidential'}{' '}
          {client.registration_type !== 'manual' && (
            <Badge>
              {client.registration_type === 'dynamic' ? 'Registered itself' : 'Document'}
            </Badge>
          )}
        </>
      ),
    },
    {
      title: 'Redirect URIs',
      class: 'mono',
      cell: ({ redirect_uris: [first, ...others] }) => (
        <>
          {first ?? '–'}
          {others.length > 0 && <span class="muted"> and {others.length} more</span>}
        </>
      ),
    },
    { title: 'Registered', class: 'nowrap', cell: (client) => <Age time={client.created_at} /> },
  ]
}
