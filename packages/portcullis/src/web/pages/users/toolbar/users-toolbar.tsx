import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Button } from '../../../components/button.tsx'
import { SearchField } from '../../../components/search-field.tsx'
import { ExportDialog } from '../export/export-dialog.tsx'
import type { ViewSettings } from '../list/view-settings.ts'
import type { UsersAddress } from '../use-users-address.ts'
import { AppliedFilters, FilterBar } from './filter-bar.tsx'
import { ViewDialog } from './view-dialog.tsx'

interface UsersToolbarProps {
  readonly address: UsersAddress
  /** Undefined before the first response. */
  readonly total: number | undefined
  readonly view: ViewSettings
  readonly onView: (view: ViewSettings) => void
}

/** The search, the filters, the view and the export. */
export function UsersToolbar({ address, total, view, onView }: UsersToolbarProps): JSX.Element {
  const [isFilterOpen, setFilterOpen] = useState(false)
  const [opened, setOpened] = useState<'view' | 'export'>()
  const barId = useId()
  const { search } = address
  const close = () => setOpened(undefined)
  return (
    <div class="user-toolbar">
      <div class="row tight">
        <SearchField
          text={search.text}
          label="Search users"
          placeholder="Email, phone, name or ID"
          pauseMs={250}
          class="user-search"
          onSearch={(text) => address.go({ q: text }, { isReplacing: true })}
        />
        <button
          type="button"
          class="button"
          aria-expanded={isFilterOpen}
          aria-controls={isFilterOpen ? barId : undefined}
          onClick={() => setFilterOpen(!isFilterOpen)}
        >
          Filters
        </button>
        <Button onClick={() => setOpened('view')}>View options…</Button>
        <Button isDisabled={!total} onClick={() => setOpened('export')}>
          Export…
        </Button>
      </div>
      {isFilterOpen && <FilterBar id={barId} address={address} />}
      <AppliedFilters address={address} />
      {opened === 'view' && (
        <ViewDialog address={address} view={view} onChange={onView} onClose={close} />
      )}
      {opened === 'export' && <ExportDialog search={search} total={total ?? 0} onClose={close} />}
    </div>
  )
}
