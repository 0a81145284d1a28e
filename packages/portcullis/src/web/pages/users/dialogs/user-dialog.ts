import type { User } from '../../../../console/routes/users-records.ts'

/** What each dialog about one user is given. */
export interface UserDialogProps {
  readonly user: User
  readonly onChange: (user: User) => void
  readonly onDeleted: () => void
  readonly onClose: () => void
}
