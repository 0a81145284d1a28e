import type { JSX, TargetedKeyboardEvent, TargetedMouseEvent } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { Icon } from '../../../components/icons.tsx'
import { showFailure, showSuccess } from '../../../components/toasts.tsx'
import { formatAge, formatTime } from '../../../format.ts'
import type { Order, UsersAddress } from '../use-users-address.ts'
import { toFullName, toProviders, toUserName, UserBadges } from '../user-facts.tsx'
import {
  headerHeightPx,
  rowHeightPx,
  toContentHeight,
  toRowTop,
  useListWindow,
} from './list-window.ts'
import type { UserPages } from './user-pages.ts'

interface UserListProps {
  readonly pages: UserPages
  readonly isBusy: boolean
  readonly address: UsersAddress
}

/** Receives the focus when the panel is closed. */
export const userListId = 'user-list'

/** All users; only the visible ones are rendered and loaded. */
export function UserList({ pages, isBusy, address }: UserListProps): JSX.Element {
  const total = pages.total ?? 0
  const { viewport, place, rows, pageRows, onScroll, reveal } = useListWindow(total)
  const [active, setActive] = useState(0)
  const id = useId()
  const { first, end } = rows

  useEffect(() => pages.show({ first, end }), [pages, first, end])
  // A new search starts at the top. A layout effect, so that it happens before the next key press.
  useLayoutEffect(() => {
    setActive(0)
    reveal(0)
  }, [pages])

  const open = (index: number) => {
    const user = pages.at(index)
    if (user) address.go({ id: user.id })
  }
  const steps: Readonly<Record<string, (from: number) => number>> = {
    ArrowDown: (from) => from + 1,
    ArrowUp: (from) => from - 1,
    PageDown: (from) => from + pageRows,
    PageUp: (from) => from - pageRows,
    Home: () => 0,
    End: () => total - 1,
  }
  const press = (event: TargetedKeyboardEvent<HTMLTableElement>) => {
    // Buttons in a row handle their own keys.
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey)
      return
    const step = steps[event.key]
    if (step) {
      const next = Math.max(0, Math.min(total - 1, step(active)))
      setActive(next)
      reveal(next)
    } else if (event.key === 'Enter') {
      open(active)
    } else if (event.key === 'Escape' && address.userId !== undefined) {
      address.go({ id: '', tab: '' })
    } else {
      return
    }
    event.preventDefault()
  }
  const click = (event: TargetedMouseEvent<HTMLTableRowElement>, index: number) => {
    setActive(index)
    // Links and buttons handle their own clicks.
    if (event.target instanceof Element && event.target.closest('a, button')) return
    open(index)
  }

  const indexes = Array.from({ length: end - first }, (_, offset) => first + offset)
  return (
    <div ref={viewport} class="user-list" onScroll={onScroll}>
      <table
        id={userListId}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- the table is navigated with the keyboard.
        role="grid"
        aria-label="Users. Use the arrow keys to move and Enter to open."
        aria-rowcount={total + 1}
        aria-busy={isBusy}
        tabIndex={0}
        aria-activedescendant={active >= first && active < end ? `${id}-${active}` : undefined}
        onKeyDown={press}
      >
        <HeaderRow address={address} />
        <tbody style={{ height: `${toContentHeight(total)}px` }}>
          {indexes.map((index) => {
            const user = pages.at(index)
            return (
              <UserRow
                // Rows that scroll out are reused for the rows that scroll in.
                key={index % indexes.length}
                id={`${id}-${index}`}
                index={index}
                topPx={toRowTop(index, place)}
                user={user}
                href={user && address.toHref({ id: user.id })}
                isActive={index === active}
                isOpen={user !== undefined && user.id === address.userId}
                onClick={click}
              />
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

const otherOrder: Readonly<Record<Order, Order>> = { newest: 'oldest', oldest: 'newest' }

function HeaderRow({ address }: { readonly address: UsersAddress }): JSX.Element {
  const { order } = address.search
  const next = otherOrder[order]
  const turn = () => address.go({ sort: next === 'newest' ? '' : next }, { isReplacing: true })
  return (
    <thead style={{ height: `${headerHeightPx}px` }}>
      <tr aria-rowindex={1}>
        <th class="who">User</th>
        <th class="id">ID</th>
        <th class="providers">Sign-in method</th>
        <th class="status">Status</th>
        <th class="created number" aria-sort={order === 'newest' ? 'descending' : 'ascending'}>
          <button type="button" class="sort" title={`Show ${next} first`} onClick={turn}>
            Created {order === 'newest' ? '↓' : '↑'}
          </button>
        </th>
        <th class="seen number">Last sign-in</th>
        <th class="go">
          <span class="hidden">Open</span>
        </th>
      </tr>
    </thead>
  )
}

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

interface UserRowProps {
  readonly id: string
  readonly index: number
  readonly topPx: number
  /** Undefined while loading. */
  readonly user: User | undefined
  readonly href: string | undefined
  readonly isActive: boolean
  readonly isOpen: boolean
  readonly onClick: (event: TargetedMouseEvent<HTMLTableRowElement>, index: number) => void
}

function UserRow(props: UserRowProps): JSX.Element {
  const { id, index, topPx, user, href, isActive, isOpen, onClick } = props
  // Memoized, because scrolling rerenders all rows for each new row.
  const cells = useMemo(
    () => (user && href ? <UserCells user={user} href={href} /> : <WaitingCells />),
    [user, href],
  )
  return (
    <tr
      id={id}
      class={isActive ? 'active' : undefined}
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      style={{ top: `${topPx}px`, height: `${rowHeightPx}px` }}
      onClick={(event) => onClick(event, index)}
    >
      {cells}
    </tr>
  )
}

interface UserCellsProps {
  readonly user: User
  readonly href: string
}

function UserCells({ user, href }: UserCellsProps): JSX.Element {
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
      <td class="id">
        <span class="mono muted">{user.id.slice(0, 8)}</span>
        <CopyId id={user.id} />
      </td>
      <td class="providers muted">{toProviders(user).join(', ') || '–'}</td>
      <td class="status">
        <UserBadges user={user} />
      </td>
      <td class="created number muted" title={formatTime(user.created_at)}>
        {moment.format(new Date(user.created_at))}
      </td>
      <td
        class="seen number muted"
        title={user.last_sign_in_at && formatTime(user.last_sign_in_at)}
      >
        {user.last_sign_in_at === undefined ? 'never' : formatAge(user.last_sign_in_at)}
      </td>
      <td class="go muted">
        <Icon name="chevron" />
      </td>
    </>
  )
}

/** For pointer users only; the panel has an accessible copy button. */
function CopyId({ id }: { readonly id: string }): JSX.Element {
  const copy = () =>
    navigator.clipboard.writeText(id).then(() => showSuccess('ID copied.'), showFailure)
  return (
    <button
      type="button"
      class="button quiet small user-copy"
      tabIndex={-1}
      aria-label="Copy ID"
      title="Copy ID"
      onClick={copy}
    >
      <Icon name="copy" />
    </button>
  )
}

/** A placeholder while the user is loading. */
function WaitingCells(): JSX.Element {
  return (
    <td class="waiting" aria-label="Loading">
      <span />
      <span />
    </td>
  )
}
