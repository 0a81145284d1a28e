import type { JSX, TargetedKeyboardEvent, TargetedMouseEvent } from 'preact'
import { useEffect, useId, useLayoutEffect, useState } from 'preact/hooks'
import type { Order, UsersAddress } from '../use-users-address.ts'
import { headerHeightPx, toContentHeight, toRowTop } from './list-window.ts'
import { useListWindow } from './use-list-window.ts'
import type { UserPages } from './user-pages.ts'
import { UserRow } from './user-row.tsx'

export interface UserListProps {
  readonly pages: UserPages
  readonly isBusy: boolean
  readonly address: UsersAddress
}

/** Who closes the panel goes on here. */
export const userListId = 'user-list'

/** All users, of whom only those in view are drawn and fetched. */
export function UserList({ pages, isBusy, address }: UserListProps): JSX.Element {
  const total = pages.total ?? 0
  const { viewport, place, rows, pageRows, onScroll, reveal } = useListWindow(total)
  const [active, setActive] = useState(0)
  const id = useId()
  const { first, end } = rows

  useEffect(() => pages.show({ first, end }), [pages, first, end])
  // Another search begins at its top, and before the next key moves through it.
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
    // A button in a row has keys of its own.
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
    // Links and buttons do what they say.
    if (event.target instanceof Element && event.target.closest('a, button')) return
    open(index)
  }

  const indexes = Array.from({ length: end - first }, (_, offset) => first + offset)
  return (
    <div ref={viewport} class="user-list" onScroll={onScroll}>
      <table
        id={userListId}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- a table to walk in by keys.
        role="grid"
        aria-label="Users. Arrow keys move, Enter opens."
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
                // Rows that leave are those that enter: what is there already need not be made anew.
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
        <th class="id">Id</th>
        <th class="providers">Signs in by</th>
        <th class="status">Status</th>
        <th class="created number" aria-sort={order === 'newest' ? 'descending' : 'ascending'}>
          <button type="button" class="sort" title={`Show the ${next} first`} onClick={turn}>
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
