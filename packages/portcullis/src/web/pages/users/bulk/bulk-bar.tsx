import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../../components/button.tsx'
import { formatNumber } from '../../../format.ts'
import type { Selection } from '../list/selection.ts'
import { type BulkActionName, bulkActions } from './bulk-actions.tsx'
import { BulkDialog } from './bulk-dialog.tsx'

interface BulkBarProps {
  readonly selection: Selection
  /** Called after an action has changed users. */
  readonly onChanged: () => void
}

const names = Object.keys(bulkActions) as readonly BulkActionName[]

/** The actions on the selected users. */
export function BulkBar({ selection, onChanged }: BulkBarProps): JSX.Element | null {
  const [opened, setOpened] = useState<BulkActionName>()
  const { users } = selection
  // The dialog stays open after its action, which empties the selection.
  if (users.length === 0 && opened === undefined) return null
  return (
    <section class="user-bulk" aria-label="Selected users">
      <span role="status">{formatNumber(users.length)} selected</span>
      <div class="row tight">
        {names.map((name) => (
          <Button
            key={name}
            size="small"
            {...(name === 'delete' && { kind: 'danger' })}
            onClick={() => setOpened(name)}
          >
            {bulkActions[name].title}
          </Button>
        ))}
        <Button size="small" kind="quiet" onClick={() => selection.set([])}>
          Clear selection
        </Button>
      </div>
      {opened && (
        <BulkDialog
          action={bulkActions[opened]}
          users={users}
          onFinished={(remaining) => {
            selection.set(remaining)
            onChanged()
          }}
          onClose={() => setOpened(undefined)}
        />
      )}
    </section>
  )
}
