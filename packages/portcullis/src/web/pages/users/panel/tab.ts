import type { FunctionComponent } from 'preact'
import type { User } from '../../../../console/routes/users-upstream.ts'

export interface Tab {
  /** In the address. */
  readonly name: string
  readonly title: string
  readonly component: FunctionComponent<TabProps>
}

/** What each tab is given. */
export interface TabProps {
  readonly user: User
  readonly onChange: (user: User) => void
}
