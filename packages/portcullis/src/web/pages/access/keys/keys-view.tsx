import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey, ServiceAccount } from '../../../../console/routes/access-items.ts'
import { callApi, callApiWithHeaders } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Empty } from '../../../components/states.tsx'
import { formatCountOf, formatTime } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { FeatureState, features } from '../feature-state.tsx'
import { Age, Back } from '../item-facts.tsx'
import { type Column, ItemList, Pages, pageSize } from '../item-list.tsx'
import type { AccessAddress } from '../use-access-address.ts'
import { Accounts, DeleteAccountForm, NewAccountForm } from './accounts.tsx'
import { KeyForm, RevokeKeyForm, RotateKeyForm } from './key-forms.tsx'

interface ViewProps {
  readonly address: AccessAddress
}

interface KeyPage {
  readonly keys: readonly ApiKey[]
  readonly total: number
  readonly accounts: readonly ServiceAccount[]
}

async function loadKeys(address: AccessAddress, signal: AbortSignal): Promise<KeyPage> {
  const { page, userId, accountId } = address
  const query = new URLSearchParams({
    page: `${page}`,
    per_page: `${pageSize}`,
    ...(userId !== undefined && { user_id: userId }),
    ...(accountId !== undefined && { service_account_id: accountId }),
  })
  const [{ body, headers }, { service_accounts: accounts }] = await Promise.all([
    callApiWithHeaders<{ readonly api_keys: readonly ApiKey[] }>(`/api/access/keys?${query}`, {
      signal,
    }),
    callApi<{ readonly service_accounts: readonly ServiceAccount[] }>(
      '/api/access/service-accounts',
      { signal },
    ),
  ])
  const { api_keys: keys } = body
  return { keys, accounts, total: Number(headers.get('x-total-count') ?? keys.length) }
}

/** What an open form is about. */
type Chosen =
  | { readonly form: 'rotate' | 'revoke'; readonly key: ApiKey }
  | { readonly form: 'delete'; readonly account: ServiceAccount }

/** The API keys of users and service accounts. */
export function KeysView({ address }: ViewProps): JSX.Element {
  const { page, userId, accountId, opened } = address
  const [chosen, setChosen] = useState<Chosen>()
  const loaded = useLoaded((signal) => loadKeys(address, signal), [page, userId, accountId])
  const closeNew = () => address.go({ new: '' }, { isReplacing: true })
  const forms = { onDone: loaded.reload, onClose: () => setChosen(undefined) }
  const isFiltered = userId !== undefined || accountId !== undefined
  return (
    <FeatureState feature={features.apiKeys} loaded={loaded}>
      {(value) => (
        <>
          {isFiltered && (
            <Back href={address.toHref({ user: '', account: '', page: '', new: '', q: '' })}>
              All API keys
            </Back>
          )}
          <Keys address={address} value={value} onChoose={setChosen} />
          {!isFiltered && (
            <Accounts
              accounts={value.accounts}
              address={address}
              onDelete={(account) => setChosen({ form: 'delete', account })}
            />
          )}
          {opened === 'key' && (
            <KeyForm
              accounts={value.accounts}
              userId={userId}
              accountId={accountId}
              onDone={loaded.reload}
              onClose={closeNew}
            />
          )}
          {opened === 'account' && <NewAccountForm onDone={loaded.reload} onClose={closeNew} />}
          {chosen?.form === 'rotate' && <RotateKeyForm apiKey={chosen.key} {...forms} />}
          {chosen?.form === 'revoke' && <RevokeKeyForm apiKey={chosen.key} {...forms} />}
          {chosen?.form === 'delete' && <DeleteAccountForm account={chosen.account} {...forms} />}
        </>
      )}
    </FeatureState>
  )
}

interface KeysProps extends ViewProps {
  readonly value: KeyPage
  readonly onChoose: (chosen: Chosen) => void
}

function Keys({ address, value, onChoose }: KeysProps): JSX.Element {
  const { keys, total, accounts } = value
  const { page, search } = address
  const names = new Map(accounts.map(({ id, name }) => [id, name]))
  const toOwner = ({ user_id: user, service_account_id: account = '' }: ApiKey) =>
    user ?? names.get(account) ?? account
  return (
    <ItemList
      title={toTitle(value, address)}
      plural="keys"
      items={keys}
      columns={toColumns(address, names, onChoose)}
      toKey={({ id }) => id}
      toText={(key) =>
        [key.name, key.hint, key.id, toOwner(key), key.plan, ...key.scopes].join(' ')
      }
      search={search}
      onSearch={(q) => address.go({ q }, { isReplacing: true })}
      actions={
        <Button size="small" kind="primary" icon="plus" onClick={() => address.go({ new: 'key' })}>
          Create key
        </Button>
      }
      empty={
        <Empty icon="key" title="No API keys yet">
          Programs use a key instead of a password. You create keys for service accounts and for
          users. With <code>AUTH_API_KEYS_ENABLED=true</code>, users also create their own.
        </Empty>
      }
    >
      <Pages
        page={page}
        total={total}
        plural="keys"
        onPage={(next) => address.go({ page: `${next}` })}
      />
    </ItemList>
  )
}

function toTitle({ total, accounts }: KeyPage, { userId, accountId }: AccessAddress): string {
  const count = formatCountOf(total, 'API key')
  if (userId !== undefined) return `${count} of user ${userId.slice(0, 8)}`
  if (accountId === undefined) return count
  return `${count} of ${accounts.find(({ id }) => id === accountId)?.name ?? 'a service account'}`
}

function toColumns(
  address: AccessAddress,
  names: ReadonlyMap<string, string>,
  onChoose: (chosen: Chosen) => void,
): readonly Column<ApiKey>[] {
  return [
    {
      title: 'Key',
      cell: (key) => (
        <>
          <span class="access-name">{key.name}</span> <KeyBadges apiKey={key} />
          <div class="mono muted">…{key.hint}</div>
        </>
      ),
    },
    {
      title: 'Owner',
      cell: ({ user_id: user, service_account_id: account = '' }) =>
        user === undefined ? (
          <a class="access-owner" href={address.toHref({ account })}>
            {names.get(account) ?? account}
          </a>
        ) : (
          <a
            class="access-owner"
            href={`/users?${new URLSearchParams({ id: user, tab: 'access' })}`}
          >
            User {user.slice(0, 8)}
          </a>
        ),
    },
    {
      title: 'Scopes',
      class: 'mono',
      cell: ({ scopes }) => scopes.join(' ') || <span class="muted">none</span>,
    },
    { title: 'Expires', class: 'nowrap', cell: (key) => <Age time={key.expires_at} /> },
    { title: 'Last used', class: 'nowrap', cell: (key) => <Age time={key.last_used_at} /> },
    {
      title: '',
      class: 'access-actions',
      cell: (key) => (
        <span class="row tight">
          <Button
            size="small"
            label={`Rotate ${key.name}`}
            onClick={() => onChoose({ form: 'rotate', key })}
          >
            Rotate…
          </Button>
          <Button
            size="small"
            label={`Revoke ${key.name}`}
            onClick={() => onChoose({ form: 'revoke', key })}
          >
            Revoke…
          </Button>
        </span>
      ),
    },
  ]
}

function KeyBadges({ apiKey }: { readonly apiKey: ApiKey }): JSX.Element {
  const { plan, expires_at: expiry, previous_until: previousUntil } = apiKey
  const isExpired = expiry !== null && Date.parse(expiry) <= Date.now()
  const hasPrevious = previousUntil !== undefined && Date.parse(previousUntil) > Date.now()
  return (
    <>
      {plan !== null && <Badge>Plan {plan}</Badge>}{' '}
      {isExpired && <Badge tone="warn">Expired</Badge>}{' '}
      {hasPrevious && (
        <span title={`The previous secret is accepted until ${formatTime(previousUntil)}`}>
          <Badge tone="accent">Two secrets</Badge>
        </span>
      )}
    </>
  )
}
