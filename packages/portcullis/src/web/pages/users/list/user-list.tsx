import type { JSX, TargetedKeyboardEvent, TargetedMouseEvent } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { UsersAddress } from '../use-users-address.ts'
import { fitColumns, hasRoomForActions, toMinWidth, toTracks } from './columns.tsx'
import { HeaderRow } from './header-row.tsx'
import { rowHeightsPx, toContentHeight, toRowTop, useListWindow } from './list-window.ts'
import { findRowAction, moveInActions, useRowActions } from './row-actions.tsx'
import { mostSelected, type Selection } from './selection.ts'
import type { UserPages } from './user-pages.ts'
import { UserRow } from './user-row.tsx'
import type { ViewSettings } from './view-settings.ts'

interface UserListProps {
  readonly pages: UserPages
  readonly isBusy: boolean
  readonly address: UsersAddress
  readonly view: ViewSettings
  readonly selection: Selection
  readonly onSelectAll: () => void
}

/** Receives the focus when the panel is closed. */
export const userListId = 'user-list'

const label =
  'Users. Use the arrow keys to move, Enter to open, the space bar to select, and the right arrow key for the actions of a user. Press the slash key to search.'

/** All users; only the visible ones are rendered and loaded. */
export function UserList(props: UserListProps): JSX.Element {
  const { pages, isBusy, address, view, selection, onSelectAll } = props
  const total = pages.total ?? 0
  const rowPx = rowHeightsPx[view.density]
  const list = useListWindow(total, rowPx)
  const { viewport, place, rows, pageRows, onScroll, reveal } = list
  const [active, setActive] = useState(0)
  /** The row from which a click with the Shift key selects. */
  const anchor = useRef(0)
  const id = useId()
  const { first, end } = rows
  const [remPx] = useState(readRemPx)
  const widthRem = list.widthPx / remPx
  // An open panel has the same actions, so the list needs none beside it.
  const hasActions = address.userId === undefined && hasRoomForActions(widthRem)
  const columns = useMemo(
    () => fitColumns(view.columns, { widthRem, hasActions }),
    [view.columns, widthRem, hasActions],
  )
  const actions = useRowActions({
    listId: userListId,
    onChanged: (user) => pages.replace(user),
    onDeleted(user) {
      selection.set(selection.users.filter((each) => each.id !== user.id))
      pages.reload()
    },
  })

  useEffect(() => pages.show({ first, end }), [pages, first, end])
  // A new search starts at the top. A layout effect, so that it happens before the next key press.
  useLayoutEffect(() => {
    setActive(0)
    anchor.current = 0
    reveal(0)
  }, [pages])
  // With another row height, the active row would be elsewhere.
  useLayoutEffect(() => reveal(active), [rowPx])

  const open = (index: number) => {
    const user = pages.at(index)
    if (user) address.go({ id: user.id })
  }
  const toggle = (index: number) => {
    const user = pages.at(index)
    anchor.current = index
    if (user) selection.toggle(user)
  }
  /** Selects the loaded rows from the last selected one to this one. */
  const selectTo = (index: number) => {
    const start = Math.min(anchor.current, index)
    const count = Math.abs(anchor.current - index) + 1
    const users = Array.from({ length: Math.min(count, mostSelected + 1) }, (_, offset) =>
      pages.at(start + offset),
    )
    selection.add(users.filter((user) => user !== undefined))
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
    if (event.altKey || moveInActions(event)) return
    // Buttons in a row handle their own keys.
    if (event.target !== event.currentTarget) return
    const isCommand = event.ctrlKey || event.metaKey
    const step = steps[event.key]
    if (isCommand) {
      if (event.key !== 'a') return
      onSelectAll()
    } else if (step) {
      const next = Math.max(0, Math.min(total - 1, step(active)))
      setActive(next)
      reveal(next)
    } else if (event.key === 'ArrowRight' && hasActions) {
      reveal(active)
      document
        .getElementById(`${id}-${active}`)
        ?.querySelector<HTMLElement>('[data-action]')
        ?.focus()
    } else if (event.key === 'Enter') {
      open(active)
    } else if (event.key === ' ') {
      toggle(active)
    } else if (event.key === 'Escape' && address.userId !== undefined) {
      address.go({ id: '', tab: '' })
    } else if (event.key === 'Escape' && selection.users.length > 0) {
      selection.set([])
    } else {
      return
    }
    event.preventDefault()
  }
  const click = (event: TargetedMouseEvent<HTMLTableRowElement>, index: number) => {
    setActive(index)
    const user = pages.at(index)
    const action = findRowAction(event.target)
    if (user && action) return actions.run(action, user)
    // Links, buttons and checkboxes handle their own clicks. Around a checkbox, a click selects.
    if (!(event.target instanceof Element) || event.target.closest('a, button, input')) return
    if (event.target.closest('.select')) toggle(index)
    else open(index)
  }
  const select = (event: TargetedMouseEvent<HTMLInputElement>, index: number) => {
    if (event.shiftKey) selectTo(index)
    else toggle(index)
  }

  const indexes = Array.from({ length: end - first }, (_, offset) => first + offset)
  const isAllSelected = total > 0 && selection.users.length >= Math.min(total, mostSelected)
  return (
    <div ref={viewport} class="user-list" onScroll={onScroll}>
      <table
        id={userListId}
        class={view.density}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- the table is navigated with the keyboard.
        role="grid"
        aria-label={label}
        aria-rowcount={total + 1}
        aria-multiselectable
        aria-busy={isBusy}
        tabIndex={0}
        aria-activedescendant={active >= first && active < end ? `${id}-${active}` : undefined}
        style={{
          '--tracks': toTracks(columns, { widthRem, hasActions }),
          minWidth: toMinWidth(columns, { widthRem, hasActions }),
        }}
        onKeyDown={press}
      >
        <HeaderRow
          address={address}
          columns={columns}
          isAllSelected={isAllSelected}
          onSelectAll={(isSelected) => (isSelected ? onSelectAll() : selection.set([]))}
        />
        <tbody style={{ height: `${toContentHeight({ total, rowPx })}px` }}>
          {indexes.map((index) => {
            const user = pages.at(index)
            return (
              <UserRow
                // Rows that scroll out are reused for the rows that scroll in.
                key={index % indexes.length}
                id={`${id}-${index}`}
                index={index}
                topPx={toRowTop(index, place, rowPx)}
                heightPx={rowPx}
                columns={columns}
                hasActions={hasActions}
                user={user}
                href={user && address.toHref({ id: user.id })}
                isActive={index === active}
                isOpen={user !== undefined && user.id === address.userId}
                isSelected={user !== undefined && selection.has(user.id)}
                onClick={click}
                onSelect={select}
              />
            )
          })}
        </tbody>
      </table>
      {actions.dialog}
    </div>
  )
}

/** The widths of columns are in rem, so that they grow with the font size that the user has chosen. */
function readRemPx(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
}
