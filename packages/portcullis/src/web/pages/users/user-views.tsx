import type { JSX } from 'preact'

export interface UserViewsProps {
  readonly shown: 'users' | 'failures'
}

export function UserViews({ shown }: UserViewsProps): JSX.Element {
  return (
    <ul class="views" aria-label="Views">
      <li>
        <a href="/users" aria-current={shown === 'users' ? 'true' : undefined}>
          Accounts
        </a>
      </li>
      <li>
        <a href="/users?view=failures" aria-current={shown === 'failures' ? 'true' : undefined}>
          Failed sign-ins
        </a>
      </li>
    </ul>
  )
}
