import type { JSX, TargetedMouseEvent } from 'preact'
import { useMemo } from 'preact/hooks'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { Icon } from '../../../components/icons.tsx'
import { toFullName, toUserName } from '../user-facts.tsx'
import type { Column } from './columns.tsx'
import { RowActions } from './row-actions.tsx'

interface UserRowProps {
  readonly id: string
  readonly index: number
  readonly topPx: number
  readonly heightPx: number
  readonly columns: readonly Column[]
  readonly hasActions: boolean
  /** Undefined while loading. */
  readonly user: User | undefined
  readonly href: string | undefined
  readonly isActive: boolean
  readonly isOpen: boolean
  readonly isSelected: boolean
  readonly onClick: (event: TargetedMouseEvent<HTMLTableRowElement>, index: number) => void
  readonly onSelect: (event: TargetedMouseEvent<HTMLInputElement>, index: number) => void
}

export function UserRow(props: UserRowProps): JSX.Element {
  const { id, index, topPx, heightPx, columns, hasActions, user, href } = props
  const { isActive, isOpen, isSelected, onClick, onSelect } = props
  // Memoized, because scrolling rerenders all rows for each new row.
  const cells = useMemo(
    () =>
      user && href ? (
        <UserCells user={user} href={href} columns={columns} hasActions={hasActions} />
      ) : (
        <Waiting />
      ),
    [user, href, columns, hasActions],
  )
  return (
    <tr
      id={id}
      class={[isActive && 'active', isOpen && 'open'].filter(Boolean).join(' ') || undefined}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-current={isOpen ? 'true' : undefined}
      style={{ top: `${topPx}px`, height: `${heightPx}px` }}
      onClick={(event) => onClick(event, index)}
    >
      <td class="select">
        {/* Not a tab stop: the list handles the space bar itself. */}
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={user ? `Select ${toUserName(user)}` : 'Select'}
          checked={isSelected}
          disabled={user === undefined}
          onClick={(event) => onSelect(event, index)}
        />
      </td>
      {cells}
    </tr>
  )
}

interface UserCellsProps {
  readonly user: User
  readonly href: string
  readonly columns: readonly Column[]
  readonly hasActions: boolean
}

function UserCells({ user, href, columns, hasActions }: UserCellsProps): JSX.Element {
  const fullName = toFullName(user)
  return (
    <>
      <td class="who">
        {/* Not a tab stop: the list handles the arrow keys itself. */}
        <a href={href} tabIndex={-1}>
          {toUserName(user)}
        </a>
        {fullName !== undefined && <span class="muted small">{fullName}</span>}
      </td>
      {columns.map(({ name, isNumber = false, show, toTitle }) => (
        <td key={name} class={isNumber ? `${name} number` : name} title={toTitle?.(user)}>
          {show(user)}
        </td>
      ))}
      <td class="go muted">
        {hasActions && <RowActions user={user} />}
        <Icon name="chevron" />
      </td>
    </>
  )
}

/** A placeholder while the user is loading. */
function Waiting(): JSX.Element {
  return (
    <td class="waiting" aria-label="Loading">
      <span />
      <span />
    </td>
  )
}
