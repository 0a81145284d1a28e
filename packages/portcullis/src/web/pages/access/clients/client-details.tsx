import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { NewOAuthClient, OAuthClient } from '../../../../console/routes/access-items.ts'
import { callApi, isNotFound } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Card } from '../../../components/card.tsx'
import { FormDialog } from '../../../components/dialog.tsx'
import { SecretFormDialog } from '../../../components/secrets-dialog.tsx'
import { Empty, Notice } from '../../../components/states.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { readText } from '../../../form-values.ts'
import { formatTime } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { FeatureState, features } from '../feature-state.tsx'
import { OverlapField } from '../form-fields.tsx'
import { Age, Back, CopyFact, Fact, Facts } from '../item-facts.tsx'
import type { AccessAddress } from '../use-access-address.ts'
import { ClientForm, toShown } from './client-form.tsx'
import { toClientName, toGrantTitle } from './client-names.ts'

interface ClientDetailsProps {
  readonly id: string
  readonly address: AccessAddress
}

export function ClientDetails({ id, address }: ClientDetailsProps): JSX.Element {
  const loaded = useLoaded(
    (signal) => callApi<OAuthClient>(`/api/access/clients/${encodeURIComponent(id)}`, { signal }),
    [id],
  )
  const back = address.toHref({ id: '' })
  return (
    <>
      <Back href={back}>All OAuth clients</Back>
      {loaded.state === 'failed' && isNotFound(loaded.error) ? (
        <Empty icon="key" title="OAuth client not found">
          The client was deleted, or the ID in the URL is wrong.
        </Empty>
      ) : (
        <FeatureState feature={features.oauthServer} loaded={loaded}>
          {(client) => (
            <Client
              client={client}
              onChanged={loaded.reload}
              onDeleted={() => address.go({ id: '' }, { isReplacing: true })}
            />
          )}
        </FeatureState>
      )}
    </>
  )
}

interface ClientProps {
  readonly client: OAuthClient
  readonly onChanged: () => unknown
  readonly onDeleted: () => void
}

function Client({ client, onChanged, onDeleted }: ClientProps): JSX.Element {
  const [opened, setOpened] = useState<'edit' | 'rotate' | 'delete'>()
  const close = () => setOpened(undefined)
  const { previous_secret_expires_at: previousUntil } = client
  const isConfidential = client.client_type === 'confidential'
  const isDocument = client.registration_type === 'document'
  return (
    <Card
      title={toClientName(client)}
      actions={
        <>
          {!isDocument && (
            <Button size="small" onClick={() => setOpened('edit')}>
              Edit…
            </Button>
          )}
          {isConfidential && !isDocument && (
            <Button size="small" onClick={() => setOpened('rotate')}>
              Rotate secret…
            </Button>
          )}
          <Button size="small" kind="danger" onClick={() => setOpened('delete')}>
            Delete…
          </Button>
        </>
      }
    >
      <div class="stack">
        {previousUntil !== undefined && Date.parse(previousUntil) > Date.now() && (
          <Notice tone="accent">
            The previous secret is accepted until {formatTime(previousUntil)}.
          </Notice>
        )}
        <ClientFacts client={client} />
      </div>
      {opened === 'edit' && <ClientForm client={client} onDone={onChanged} onClose={close} />}
      {opened === 'rotate' && <RotateForm client={client} onDone={onChanged} onClose={close} />}
      {opened === 'delete' && <DeleteForm client={client} onDone={onDeleted} onClose={close} />}
    </Card>
  )
}

function ClientFacts({ client }: Pick<ClientProps, 'client'>): JSX.Element {
  const { redirect_uris: uris, client_uri: website, registration_type: origin } = client
  return (
    <Facts>
      <CopyFact name="Client ID" value={client.client_id} />
      <Fact name="Type">
        {client.client_type === 'public'
          ? 'Public: it has no secret'
          : 'Confidential: it has a secret'}
      </Fact>
      <Fact name="Redirect URIs">
        {uris.length === 0 ? (
          <span class="muted">none</span>
        ) : (
          <ul class="mono">
            {uris.map((uri) => (
              <li key={uri}>{uri}</li>
            ))}
          </ul>
        )}
      </Fact>
      <Fact name="It can">
        <span class="row tight">
          {client.grant_types.map((type) => (
            <Badge key={type}>{toGrantTitle(type)}</Badge>
          ))}
        </span>
      </Fact>
      <Fact name="Scopes">
        {client.scope === undefined ? (
          <span class="muted">all</span>
        ) : (
          <span class="mono">{client.scope}</span>
        )}
      </Fact>
      {client.dpop_bound_access_tokens && <Fact name="Access tokens">Bound to a key (DPoP)</Fact>}
      {website !== undefined && (
        <Fact name="Website">
          <a href={website} target="_blank" rel="noreferrer">
            {website}
          </a>
        </Fact>
      )}
      <Fact name="Registered">
        <Age time={client.created_at} />
        {origin === 'dynamic' && ' by itself'}
        {origin === 'document' && ' from the document at its URL'}
      </Fact>
      <Fact name="Changed">
        <Age time={client.updated_at} />
      </Fact>
    </Facts>
  )
}

interface FormProps {
  readonly client: OAuthClient
  readonly onDone: () => unknown
  readonly onClose: () => void
}

function RotateForm({ client, onDone, onClose }: FormProps): JSX.Element {
  const rotate = async (form: FormData) => {
    const query = new URLSearchParams({ overlap_seconds: readText(form, 'overlap_seconds') })
    const changed = await callApi<NewOAuthClient>(
      `/api/access/clients/${client.client_id}/secret?${query}`,
      { method: 'POST' },
    )
    onDone()
    return toShown(changed)
  }
  return (
    <SecretFormDialog
      title={`Rotate the secret of ${toClientName(client)}`}
      action="Create new secret"
      onSubmit={rotate}
      onClose={onClose}
    >
      <OverlapField what="secret" />
    </SecretFormDialog>
  )
}

function DeleteForm({ client, onDone, onClose }: FormProps): JSX.Element {
  const remove = async () => {
    await callApi(`/api/access/clients/${client.client_id}`, { method: 'DELETE' })
    showSuccess(`${toClientName(client)} was deleted.`)
    onDone()
  }
  return (
    <FormDialog
      title={`Delete ${toClientName(client)}?`}
      action="Delete"
      kind="danger"
      onSubmit={remove}
      onClose={onClose}
    >
      <p>
        Users can no longer sign in to this application. Its sessions and the grants of all users
        end. This cannot be undone.
      </p>
    </FormDialog>
  )
}
