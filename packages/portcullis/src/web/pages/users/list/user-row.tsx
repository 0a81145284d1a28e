import type { JSX, TargetedMouseEvent } from 'preact'
import { useMemo } from 'preact/hooks'
import type { User } from '../../../../console/routes/users-records.ts'
import { Icon } from '../../../components/icons.tsx'
import { tellDone, tellFailure } from '../../../components/toasts.tsx'
import { formatAge, formatTime } from '../../../format.ts'
import { toFullName, toProviders, toUserName } from '../user-facts.ts'
import { UserMarks } from '../user-marks.tsx'
import { rowHeightPx } from './list-window.ts'

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

export interface UserRowProps {
  readonly id: string
  readonly index: number
  readonly topPx: number
  /** Undefined: on the way. */
  readonly user: User | undefined
  readonly href: string | undefined
  readonly isActive: boolean
  readonly isOpen: boolean
  readonly onClick: (event: TargetedMouseEvent<HTMLTableRowElement>, index: number) => void
}

export function UserRow(props: UserRowProps): JSX.Element {
  const { id, index, topPx, user, href, isActive, isOpen, onClick } = props
  // The same cells again cost nothing, and scrolling redraws all rows for each that comes into view.
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
        {/* The list moves through its rows by itself: a stop at each would take a thousand tabs. */}
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
        <UserMarks user={user} />
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

/** For the pointer alone: the panel has one for everybody. */
function CopyId({ id }: { readonly id: string }): JSX.Element {
  const copy = () =>
    navigator.clipboard.writeText(id).then(() => tellDone('The id is copied.'), tellFailure)
  return (
    <button
      type="button"
      class="button quiet small user-copy"
      tabIndex={-1}
      aria-label="Copy the id"
      title="Copy the id"
      onClick={copy}
    >
      <Icon name="copy" />
    </button>
  )
}

/** In the place of somebody who is on the way. */
function WaitingCells(): JSX.Element {
  return (
    <td class="waiting" aria-label="Loading">
      <span />
      <span />
    </td>
  )
}
