import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { NewScimToken, ScimToken } from '../../../../console/routes/access-items.ts'
import { callApi } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { Card } from '../../../components/card.tsx'
import { FormDialog } from '../../../components/dialog.tsx'
import { SecretsDialog } from '../../../components/secrets-dialog.tsx'
import { Failure, Loading } from '../../../components/states.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { formatTime } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { Age, CopyFact, Facts } from '../item-facts.tsx'

interface ScimCardProps {
  readonly providerId: string
  readonly scimUrl: string
}

/** The tokens with which an identity provider creates, changes and removes its users. */
export function ScimCard({ providerId, scimUrl }: ScimCardProps): JSX.Element {
  const path = `/api/access/sso/${providerId}/scim-tokens`
  const loaded = useLoaded(
    (signal) => callApi<{ readonly items: readonly ScimToken[] }>(path, { signal }),
    [path],
  )
  const [created, setCreated] = useState<NewScimToken>()
  const [revoked, setRevoked] = useState<ScimToken>()
  const create = async () => {
    setCreated(await callApi<NewScimToken>(path, { method: 'POST' }))
    loaded.reload()
  }
  return (
    <Card
      title="User provisioning (SCIM)"
      actions={
        <Button size="small" icon="plus" onClick={create}>
          Create token
        </Button>
      }
    >
      <div class="stack">
        <Facts>
          <CopyFact name="SCIM URL" value={scimUrl} />
        </Facts>
        {loaded.state === 'loading' && <Loading />}
        {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
        {loaded.state === 'ready' && <Tokens tokens={loaded.value.items} onRevoke={setRevoked} />}
      </div>
      {created && (
        <SecretsDialog
          title="SCIM token"
          secrets={{ Token: created.token }}
          onClose={() => setCreated(undefined)}
        >
          The token is shown only here. Enter it in the identity provider, with the SCIM URL.
        </SecretsDialog>
      )}
      {revoked && (
        <FormDialog
          title={`Revoke the SCIM token of ${formatTime(revoked.created_at)}?`}
          action="Revoke"
          kind="danger"
          onSubmit={async () => {
            await callApi(`${path}/${revoked.id}`, { method: 'DELETE' })
            showSuccess('The SCIM token was revoked.')
            loaded.reload()
          }}
          onClose={() => setRevoked(undefined)}
        >
          <p>The identity provider can no longer change users with it.</p>
        </FormDialog>
      )}
    </Card>
  )
}

interface TokensProps {
  readonly tokens: readonly ScimToken[]
  readonly onRevoke: (token: ScimToken) => void
}

function Tokens({ tokens, onRevoke }: TokensProps): JSX.Element {
  if (tokens.length === 0) {
    return (
      <p class="muted">
        No tokens yet. With one, the identity provider creates, changes and removes its users here.
      </p>
    )
  }
  return (
    <ul class="items" aria-label="SCIM tokens">
      {tokens.map((token) => (
        <li key={token.id}>
          <div class="grow">
            Created <Age time={token.created_at} />
            <div class="mono muted">{token.id}</div>
          </div>
          <Button
            size="small"
            label={`Revoke the token of ${formatTime(token.created_at)}`}
            onClick={() => onRevoke(token)}
          >
            Revoke…
          </Button>
        </li>
      ))}
    </ul>
  )
}
