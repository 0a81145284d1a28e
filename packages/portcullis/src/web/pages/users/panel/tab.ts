import type { FunctionComponent } from 'preact'
import type { User } from '../../../../console/routes/users-upstream.ts'

export interface Tab {
  /** The name in the URL. */
  readonly name: string
  readonly title: string
  readonly component: FunctionComponent<TabProps>
}

/** The props of each tab. */
export interface TabProps {
  readonly user: User
  readonly onChange: (user: User) => void
}
