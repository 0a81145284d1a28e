import type { ComponentChildren, JSX } from 'preact'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { Badge } from '../../../components/badge.tsx'
import { Icon } from '../../../components/icons.tsx'
import { showFailure, showSuccess } from '../../../components/toasts.tsx'
import { formatAge, formatPhone, formatTime } from '../../../format.ts'
import type { Sort, SortColumn } from '../search.ts'
import { toProviders, UserBadges } from '../user-facts.tsx'

/** A column that can be hidden; the column with the name of the user is always shown. */
export interface Column {
  readonly name: string
  readonly title: string
  /** The column of the auth server by which it is sorted. */
  readonly sort: SortColumn
  /** The direction of the first click on the header. */
  readonly direction: Sort['direction']
  /** The minimum width in rem, and the share of the remaining space. */
  readonly minRem: number
  readonly share?: number
  readonly isNumber?: boolean
  readonly isHiddenByDefault?: boolean
  readonly show: (user: User) => ComponentChildren
  /** The complete value, shown in a tooltip. */
  readonly toTitle?: (user: User) => string | undefined
}

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

/** In the order in which they are shown. */
export const columns: readonly Column[] = [
  {
    name: 'id',
    title: 'ID',
    sort: 'id',
    direction: 'asc',
    minRem: 5.25,
    isHiddenByDefault: true,
    show: ({ id }) => (
      <>
        <span class="mono muted">{id.slice(0, 8)}</span>
        <CopyId id={id} />
      </>
    ),
  },
  {
    name: 'phone',
    title: 'Phone',
    sort: 'phone',
    direction: 'asc',
    minRem: 8.5,
    isHiddenByDefault: true,
    show: ({ phone }) => <span class="muted">{phone === '' ? '–' : formatPhone(phone)}</span>,
  },
  {
    name: 'providers',
    title: 'Sign-in method',
    sort: 'provider',
    direction: 'asc',
    minRem: 6.75,
    share: 0.6,
    show: (user) => <span class="muted">{toProviders(user).join(', ') || '–'}</span>,
    toTitle: (user) => toProviders(user).join(', ') || undefined,
  },
  {
    name: 'factor',
    title: 'Second factor',
    sort: 'second_factor',
    direction: 'desc',
    minRem: 6.5,
    isHiddenByDefault: true,
    show: (user) =>
      hasSecondFactor(user) ? <Badge tone="ok">Yes</Badge> : <span class="muted">No</span>,
  },
  {
    name: 'role',
    title: 'Role',
    sort: 'role',
    direction: 'asc',
    minRem: 7,
    isHiddenByDefault: true,
    show: ({ role }) => <span class="muted">{role || '–'}</span>,
    toTitle: ({ role }) => role,
  },
  {
    name: 'status',
    title: 'Status',
    sort: 'status',
    direction: 'asc',
    minRem: 11.5,
    share: 1,
    show: (user) => <UserBadges user={user} />,
  },
  {
    name: 'created',
    title: 'Created',
    sort: 'created_at',
    direction: 'desc',
    minRem: 8.75,
    isNumber: true,
    show: ({ created_at: at }) => <span class="muted">{moment.format(new Date(at))}</span>,
    toTitle: ({ created_at: at }) => formatTime(at),
  },
  {
    name: 'updated',
    title: 'Updated',
    sort: 'updated_at',
    direction: 'desc',
    minRem: 8.75,
    isNumber: true,
    isHiddenByDefault: true,
    show: ({ updated_at: at }) => <span class="muted">{moment.format(new Date(at))}</span>,
    toTitle: ({ updated_at: at }) => formatTime(at),
  },
  {
    name: 'seen',
    title: 'Last sign-in',
    sort: 'last_sign_in_at',
    direction: 'desc',
    minRem: 7.25,
    isNumber: true,
    show: ({ last_sign_in_at: at }) => (
      <span class="muted">{at === undefined ? 'never' : formatAge(at)}</span>
    ),
    toTitle: ({ last_sign_in_at: at }) => at && formatTime(at),
  },
]

export function hasSecondFactor({ factors = [] }: User): boolean {
  return factors.some(({ status }) => status === 'verified')
}

/** A list below this width shows only the columns that fit; a wider one scrolls horizontally. */
const narrowRem = 54
/** Below this width, the status is only as wide as its badge. */
const phoneRem = 40

/** The columns that stay longest when the list gets narrower, the most important first. */
const importance = ['status', 'seen', 'created', 'factor', 'providers', 'phone', 'role', 'updated']

const gapRem = 0.875
/** The minimum width of the column with the name of the user. */
const toUserRem = (widthRem: number) => (widthRem < phoneRem ? 6 : 10)
/** The checkbox and the padding of a row. */
const frameRem = 1.25 + 2 + 2 * gapRem

/** Whether the rows of a list of this width have room for buttons. */
export function hasRoomForActions(widthRem: number): boolean {
  return widthRem >= phoneRem
}

/** Returns the width of the last column: the buttons of a row on a touch screen, or only its arrow. */
function toEndRem(hasActions: boolean): number {
  return hasActions ? 5.5 : 1.125
}

/** The size of a list. */
interface Room {
  readonly widthRem: number
  /** Whether each row ends with buttons. */
  readonly hasActions: boolean
}

/** Returns the chosen columns that fit into a list of this width. */
export function fitColumns(
  chosen: readonly Column[],
  { widthRem, hasActions }: Room,
): readonly Column[] {
  if (widthRem >= narrowRem) return chosen
  const kept = new Set<Column>()
  let leftRem = widthRem - frameRem - toEndRem(hasActions) - toUserRem(widthRem)
  for (const name of importance) {
    const column = chosen.find((each) => each.name === name)
    if (!column) continue
    leftRem -= toMinRem(column, widthRem) + gapRem
    if (leftRem < 0) break
    kept.add(column)
  }
  return chosen.filter((column) => kept.has(column))
}

function toMinRem({ name, minRem }: Column, widthRem: number): number {
  return name === 'status' && widthRem < phoneRem ? 7 : minRem
}

/** Returns the value of `grid-template-columns` of each row. */
export function toTracks(shown: readonly Column[], { widthRem, hasActions }: Room): string {
  const tracks = shown.map((column) => {
    const { name, share, minRem } = column
    if (name === 'status' && widthRem < phoneRem) return 'auto'
    return share === undefined ? `${minRem}rem` : `minmax(${minRem}rem, ${share}fr)`
  })
  const user = `minmax(${toUserRem(widthRem)}rem, 2.4fr)`
  const end = hasActions ? 'var(--actions)' : `${toEndRem(hasActions)}rem`
  return ['1.25rem', user, ...tracks, end].join(' ')
}

/** Returns the width that the rows need. */
export function toMinWidth(shown: readonly Column[], { widthRem, hasActions }: Room): string {
  const rem = shown.reduce(
    (sum, column) => sum + toMinRem(column, widthRem) + gapRem,
    frameRem + toEndRem(hasActions),
  )
  return widthRem < narrowRem ? '0' : `${rem + toUserRem(widthRem)}rem`
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
