import type { JSX } from 'preact'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { columns } from '../list/columns.tsx'
import { userColumn } from '../list/header-row.tsx'
import type { Density } from '../list/list-window.ts'
import { defaultColumns, type ViewSettings } from '../list/view-settings.ts'
import { formatSort } from '../search.ts'
import type { UsersAddress } from '../use-users-address.ts'

interface ViewDialogProps {
  readonly address: UsersAddress
  readonly view: ViewSettings
  readonly onChange: (view: ViewSettings) => void
  readonly onClose: () => void
}

const densities = { comfortable: 'Comfortable', compact: 'Compact' } as const satisfies Record<
  Density,
  string
>

/** Which columns the list has, how high its rows are, and how it is sorted. Changes apply at once. */
export function ViewDialog({ address, view, onChange, onClose }: ViewDialogProps): JSX.Element {
  const toggle = (name: string, isShown: boolean) =>
    onChange({
      ...view,
      columns: columns.filter((column) =>
        column.name === name ? isShown : view.columns.includes(column),
      ),
    })
  return (
    <Dialog title="View options" onClose={onClose}>
      <fieldset class="choices user-columns">
        <legend>Columns</legend>
        {columns.map((column) => (
          <label key={column.name} class="choice">
            <input
              type="checkbox"
              checked={view.columns.includes(column)}
              onChange={(event) => toggle(column.name, event.currentTarget.checked)}
            />
            <span>{column.title}</span>
          </label>
        ))}
      </fieldset>
      <fieldset class="choices">
        <legend>Density</legend>
        {Object.entries(densities).map(([density, text]) => (
          <label key={density} class="choice">
            <input
              type="radio"
              name="density"
              checked={view.density === density}
              onChange={() => onChange({ ...view, density: density as Density })}
            />
            <span>{text}</span>
          </label>
        ))}
      </fieldset>
      <SortField address={address} />
      <p class="muted small">
        Columns and density are kept in this browser. Narrow windows show only the columns that fit.
      </p>
      <footer>
        <Button onClick={() => onChange({ columns: defaultColumns, density: 'comfortable' })}>
          Reset
        </Button>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}

/** Narrow windows do not show the headers of all columns. */
function SortField({ address }: { readonly address: UsersAddress }): JSX.Element {
  const options = [userColumn, ...columns].flatMap(({ title, sort }) => [
    { title: `${title}, ascending`, value: formatSort({ column: sort, direction: 'asc' }) },
    { title: `${title}, descending`, value: formatSort({ column: sort, direction: 'desc' }) },
  ])
  return (
    <Field label="Sort by">
      <select
        class="input"
        value={formatSort(address.search.sort)}
        onChange={(event) => address.go({ sort: event.currentTarget.value }, { isReplacing: true })}
      >
        {options.map(({ title, value }) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </Field>
  )
}
