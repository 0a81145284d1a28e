import type { JSX } from 'preact'
import { formatSort, type Sort } from '../search.ts'
import type { UsersAddress } from '../use-users-address.ts'
import type { Column } from './columns.tsx'
import { headerHeightPx } from './list-window.ts'

interface HeaderRowProps {
  readonly address: UsersAddress
  readonly columns: readonly Column[]
  readonly isAllSelected: boolean
  readonly onSelectAll: (isSelected: boolean) => void
}

/** The first column is always shown, so it is not one of the columns to choose from. */
export const userColumn = { title: 'User', sort: 'email', direction: 'asc' } as const

export function HeaderRow(props: HeaderRowProps): JSX.Element {
  const { address, columns, isAllSelected, onSelectAll } = props
  return (
    <thead style={{ height: `${headerHeightPx}px` }}>
      <tr aria-rowindex={1}>
        <th class="select">
          <input
            type="checkbox"
            aria-label="Select all users"
            title="Select all users"
            checked={isAllSelected}
            onChange={(event) => onSelectAll(event.currentTarget.checked)}
          />
        </th>
        <SortHeader address={address} column={userColumn} class="who" />
        {columns.map((column) => (
          <SortHeader
            key={column.name}
            address={address}
            column={column}
            class={column.isNumber ? `${column.name} number` : column.name}
          />
        ))}
        <th class="go">
          <span class="hidden">Open</span>
        </th>
      </tr>
    </thead>
  )
}

interface SortHeaderProps {
  readonly address: UsersAddress
  readonly column: Pick<Column, 'title' | 'sort' | 'direction'>
  readonly class: string
}

function SortHeader({ address, column, class: className }: SortHeaderProps): JSX.Element {
  const { sort } = address.search
  const isSorted = sort.column === column.sort
  const next: Sort = {
    column: column.sort,
    direction: isSorted ? opposite[sort.direction] : column.direction,
  }
  const turn = () => address.go({ sort: formatSort(next) }, { isReplacing: true })
  return (
    <th class={className} aria-sort={isSorted ? words[sort.direction] : undefined}>
      <button
        type="button"
        class="sort"
        title={`Sort by ${column.title}, ${words[next.direction]}`}
        onClick={turn}
      >
        {column.title} {isSorted && (sort.direction === 'asc' ? '↑' : '↓')}
      </button>
    </th>
  )
}

const opposite = { asc: 'desc', desc: 'asc' } as const
const words = { asc: 'ascending', desc: 'descending' } as const
