import type { JSX } from 'preact'
import { toMessage } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { Empty, Failure, Loading } from '../../../components/states.tsx'
import { isFiltered } from '../search.ts'
import { type UsersAddress, withoutFilters } from '../use-users-address.ts'
import type { Selection } from './selection.ts'
import { UserList } from './user-list.tsx'
import type { UserPages } from './user-pages.ts'
import type { ViewSettings } from './view-settings.ts'

export interface UserBrowserProps {
  readonly pages: UserPages | undefined
  readonly isBusy: boolean
  readonly address: UsersAddress
  readonly view: ViewSettings
  readonly selection: Selection
  readonly onSelectAll: () => void
  readonly onCreate: () => void
}

/** The list, or a replacement while it is empty, loading or failed. */
export function UserBrowser(props: UserBrowserProps): JSX.Element {
  const { pages } = props
  return (
    <section class="card user-browser" aria-label="All users">
      {pages?.error !== undefined && pages.total !== undefined && (
        <div class="user-list-fault" role="alert">
          <span>Some users could not be loaded: {toMessage(pages.error)}</span>
          <Button size="small" icon="refresh" onClick={() => pages.reload()}>
            Try again
          </Button>
        </div>
      )}
      <Content {...props} />
    </section>
  )
}

function Content({ pages, onCreate, ...list }: UserBrowserProps): JSX.Element {
  const { address } = list
  if (pages === undefined) return <Loading>Loading users…</Loading>
  if (pages.total === undefined) {
    return <Failure error={pages.error} onRetry={() => pages.reload()} />
  }
  if (pages.total > 0) return <UserList pages={pages} {...list} />
  if (!isFiltered(address.search)) {
    return (
      <div>
        <Empty icon="users" title="No users yet">
          Users appear here when they sign up, or when you create or invite them.
        </Empty>
        <div class="user-empty-actions">
          <Button icon="plus" kind="primary" onClick={onCreate}>
            Create your first user
          </Button>
        </div>
      </div>
    )
  }
  return (
    <div>
      <Empty icon="search" title="No users match">
        {address.search.text === ''
          ? 'Remove some of the filters.'
          : 'Search for part of an email address, full name or phone number, or for the first 8 characters of an ID.'}
      </Empty>
      <div class="user-empty-actions">
        <Button onClick={() => address.go({ q: '', ...withoutFilters }, { isReplacing: true })}>
          Clear search
        </Button>
      </div>
    </div>
  )
}
