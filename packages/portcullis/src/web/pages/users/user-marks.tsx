import type { JSX } from 'preact'
import type { User } from '../../../console/routes/users-records.ts'
import { Badge } from '../../components/badge.tsx'
import { toMarks } from './user-facts.ts'

export function UserMarks({ user }: { readonly user: User }): JSX.Element {
  return (
    <span class="user-marks">
      {toMarks(user).map(({ label, tone, title }) => (
        <span key={label} class={tone === 'ok' ? 'usual' : undefined} title={title}>
          <Badge tone={tone}>{label}</Badge>
        </span>
      ))}
    </span>
  )
}
