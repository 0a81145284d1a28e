import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey } from '../../../../console/routes/access-items.ts'
import type { Grant } from '../../../../console/routes/users-upstream.ts'
import { ApiError, callApi } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { FormDialog } from '../../../components/dialog.tsx'
import { Failure, Loading } from '../../../components/states.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { formatAge } from '../../../format.ts'
import { type Loaded, useLoaded } from '../../../use-loaded.ts'
import { removePart } from '../change-user.ts'
import type { TabProps } from './tab.ts'

type Reloadable<Value> = Loaded<Value> & { readonly reload: () => unknown }

/** The applications to which the user has granted access, and the user's API keys. */
export function AccessTab({ user }: TabProps): JSX.Element {
  const grantsPath = `/api/users/${user.id}/grants`
  const grants = useLoaded(
    (signal) => callApi<readonly Grant[]>(grantsPath, { signal }),
    [grantsPath],
  )
  const keys = useLoaded(
    (signal) =>
      callApi<{ readonly api_keys: readonly ApiKey[] }>(
        `/api/access/keys?${new URLSearchParams({ user_id: user.id, per_page: '1000' })}`,
        { signal },
      ),
    [user.id],
  )
  return (
    <>
      <section class="stack tight" aria-label="Applications">
        <h3>Applications</h3>
        <Grants grants={grants} path={grantsPath} />
      </section>
      <section class="stack tight" aria-label="API keys">
        <div class="row between">
          <h3>API keys</h3>
          <a href={`/access?${new URLSearchParams({ tab: 'keys', user: user.id })}`}>
            Create and rotate keys
          </a>
        </div>
        <Keys keys={keys} />
      </section>
    </>
  )
}

interface GrantsProps {
  readonly grants: Reloadable<readonly Grant[]>
  readonly path: string
}

function toName({ client }: Grant): string {
  return client.name ?? client.id
}

function Grants({ grants, path }: GrantsProps): JSX.Element {
  const [revoked, setRevoked] = useState<Grant>()
  if (grants.state === 'loading') return <Loading />
  if (grants.state === 'failed') {
    const { error } = grants
    if (error instanceof ApiError && error.code === 'feature_disabled') {
      return (
        <p class="muted small">
          The OAuth server is switched off. <code>AUTH_OAUTH_SERVER_ENABLED=true</code> switches it
          on.
        </p>
      )
    }
    return <Failure error={error} onRetry={grants.reload} />
  }
  if (grants.value.length === 0) {
    return <p class="muted small">The user has not granted access to any application.</p>
  }
  return (
    <>
      <ul class="items">
        {grants.value.map((grant) => (
          <li key={grant.client.id}>
            <div class="grow">
              <strong>{toName(grant)}</strong>
              <div class="muted small">
                <span class="mono">{[...grant.scopes, ...grant.resources].join(' ')}</span>, granted{' '}
                {formatAge(grant.granted_at)}
              </div>
            </div>
            <Button
              size="small"
              label={`Revoke the access of ${toName(grant)}`}
              onClick={() => setRevoked(grant)}
            >
              Revoke…
            </Button>
          </li>
        ))}
      </ul>
      {revoked && (
        <FormDialog
          title={`Revoke the access of ${toName(revoked)}?`}
          action="Revoke"
          kind="danger"
          onSubmit={async () => {
            await removePart(`${path}?${new URLSearchParams({ client_id: revoked.client.id })}`)
            showSuccess(`The access of ${toName(revoked)} was revoked.`)
            grants.reload()
          }}
          onClose={() => setRevoked(undefined)}
        >
          <p>
            The sessions of the application for this user end. It has to ask the user again for
            access.
          </p>
        </FormDialog>
      )}
    </>
  )
}

interface KeysProps {
  readonly keys: Reloadable<{ readonly api_keys: readonly ApiKey[] }>
}

function Keys({ keys }: KeysProps): JSX.Element {
  const [revoked, setRevoked] = useState<ApiKey>()
  if (keys.state === 'loading') return <Loading />
  if (keys.state === 'failed') return <Failure error={keys.error} onRetry={keys.reload} />
  const { api_keys: all } = keys.value
  if (all.length === 0) return <p class="muted small">The user has no API keys.</p>
  return (
    <>
      <ul class="items">
        {all.map((key) => (
          <li key={key.id}>
            <div class="grow">
              <strong>{key.name}</strong> <KeyState apiKey={key} />
              <div class="muted small">
                <span class="mono">…{key.hint}</span> {key.scopes.join(' ')}
              </div>
            </div>
            <span class="muted small number">
              {key.last_used_at === null ? 'never used' : `used ${formatAge(key.last_used_at)}`}
            </span>
            <Button size="small" label={`Revoke ${key.name}`} onClick={() => setRevoked(key)}>
              Revoke…
            </Button>
          </li>
        ))}
      </ul>
      {revoked && (
        <FormDialog
          title={`Revoke ${revoked.name}?`}
          action="Revoke"
          kind="danger"
          onSubmit={async () => {
            await removePart(`/api/access/keys/${revoked.id}`)
            showSuccess(`${revoked.name} was revoked.`)
            keys.reload()
          }}
          onClose={() => setRevoked(undefined)}
        >
          <p>The key and its tokens stop working within a second. This cannot be undone.</p>
        </FormDialog>
      )}
    </>
  )
}

function KeyState({ apiKey }: { readonly apiKey: ApiKey }): JSX.Element | null {
  const { expires_at: expiry } = apiKey
  const isExpired = expiry !== null && Date.parse(expiry) <= Date.now()
  return isExpired ? <Badge tone="warn">Expired</Badge> : null
}
