import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AuthSettings, ProviderSettings } from '../../../console/routes/settings.ts'
import { callApi } from '../../api.ts'
import { Badge } from '../../components/badge.tsx'
import { CopyButton } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import { useLoaded } from '../../use-loaded.ts'

/** The sign-in providers, with what each of them still needs. */
export function ProvidersView(): JSX.Element {
  const loaded = useLoaded((signal) => callApi<AuthSettings>('/api/settings/auth', { signal }), [])
  const [search, setSearch] = useState('')
  if (loaded.state === 'loading') return <Loading>Loading providers…</Loading>
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />
  const { providers } = loaded.value
  const enabled = providers.filter((provider) => provider.is_enabled)
  const found = providers.filter(({ id }) => id.includes(search.toLowerCase()))
  return (
    <Card
      title={enabled.length === 1 ? '1 provider enabled' : `${enabled.length} providers enabled`}
      isFlush
      actions={
        <SearchField
          text={search}
          label="Search providers"
          placeholder="Search providers"
          pauseMs={100}
          class="settings-search"
          onSearch={setSearch}
        />
      }
    >
      {found.length === 0 && (
        <Empty icon="search" title="No matching providers">
          {`No provider is called “${search}”.`}
        </Empty>
      )}
      <ul class="settings-providers">
        {found.map((provider) => (
          <Provider key={provider.id} provider={provider} />
        ))}
      </ul>
    </Card>
  )
}

function Provider({ provider }: { readonly provider: ProviderSettings }): JSX.Element {
  const { id, is_enabled: isEnabled, missing, callback_url: url, client_ids: clientIds } = provider
  return (
    <li aria-label={id}>
      <div class="row tight">
        <h3 class="mono">{id}</h3>
        <Badge tone={isEnabled ? 'ok' : undefined} hasDot={isEnabled}>
          {isEnabled ? 'Enabled' : 'Disabled'}
        </Badge>
      </div>
      <dl class="settings-facts">
        <div>
          <dt>Callback URL</dt>
          <dd class="row tight">
            <span class="mono settings-value">{url}</span>
            <CopyButton text={url} label="Copy URL" />
          </dd>
        </div>
        {clientIds.length > 0 && (
          <div>
            <dt>Client IDs</dt>
            <dd class="mono settings-value">{clientIds.join(', ')}</dd>
          </div>
        )}
        {missing.length > 0 && (
          <div>
            <dt>Missing</dt>
            <dd class="mono settings-value">{missing.join(', ')}</dd>
          </div>
        )}
      </dl>
    </li>
  )
}
