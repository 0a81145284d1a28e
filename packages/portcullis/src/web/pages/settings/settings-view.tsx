import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { EffectiveSetting, ServerSettings } from '../../../console/routes/settings.ts'
import { callApi } from '../../api.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import { formatNumber } from '../../format.ts'
import { useLoaded } from '../../use-loaded.ts'
import { SettingsTable } from './settings-table.tsx'

interface SettingsViewProps {
  readonly server: 'auth' | 'ratelimit' | 'graphql'
}

/** Limits the number of rows that the browser has to render. */
const rowsAtFirst = 100

/** Loads the settings of a server and filters them. */
export function SettingsView({ server }: SettingsViewProps): JSX.Element {
  const loaded = useLoaded(
    (signal) => callApi<ServerSettings>(`/api/settings/${server}`, { signal }),
    [server],
  )
  if (loaded.state === 'loading') return <Loading>Loading settings…</Loading>
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />
  if (loaded.value.settings.length === 0) {
    return (
      <Empty icon="settings" title="Settings are not available">
        The console shows the settings of a GraphQL API only if <code>portcullis up</code> started
        it.
      </Empty>
    )
  }
  return <SettingsCard settings={loaded.value.settings} onReload={loaded.reload} />
}

interface SettingsCardProps {
  readonly settings: readonly EffectiveSetting[]
  readonly onReload: () => void
}

function SettingsCard({ settings, onReload }: SettingsCardProps): JSX.Element {
  const [search, setSearch] = useState('')
  const [onlyChanged, setOnlyChanged] = useState(false)
  const [showsAll, setShowsAll] = useState(false)
  const changedCount = useMemo(
    () => settings.filter((setting) => setting.is_changed).length,
    [settings],
  )
  const found = useMemo(
    () => findSettings(settings, search, onlyChanged),
    [settings, search, onlyChanged],
  )
  const shown = showsAll ? found : found.slice(0, rowsAtFirst)
  return (
    <Card
      title="Effective settings"
      isFlush
      actions={
        <>
          <SearchField
            text={search}
            label="Search settings"
            placeholder="Search settings"
            pauseMs={150}
            class="settings-search"
            onSearch={setSearch}
          />
          <label class="settings-filter">
            <input
              type="checkbox"
              checked={onlyChanged}
              onChange={(event) => setOnlyChanged(event.currentTarget.checked)}
            />
            Changed from default ({formatNumber(changedCount)})
          </label>
          <Button kind="quiet" size="small" icon="refresh" onClick={onReload}>
            Reload
          </Button>
        </>
      }
    >
      <p class="hidden" role="status">
        {found.length === 1 ? '1 setting' : `${found.length} settings`}
      </p>
      {found.length === 0 ? (
        <Empty icon="search" title="No matching settings">
          {search === ''
            ? 'Every setting has its default.'
            : `No setting contains “${search}”. Try another search.`}
        </Empty>
      ) : (
        <SettingsTable settings={shown} />
      )}
      {found.length > shown.length && (
        <div class="settings-more">
          <Button size="small" onClick={() => setShowsAll(true)}>
            {`Show all (${formatNumber(found.length)})`}
          </Button>
        </div>
      )}
    </Card>
  )
}

/** Finds the settings that contain every word of the search in any of their columns. */
export function findSettings(
  settings: readonly EffectiveSetting[],
  search: string,
  onlyChanged: boolean,
): readonly EffectiveSetting[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return settings.filter((setting) => {
    if (onlyChanged && !setting.is_changed) return false
    const { name, set_as: setAs = '', value, help, chapter, source, file = '' } = setting
    const text = [name, setAs, value ?? '', help, chapter, source, file].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
