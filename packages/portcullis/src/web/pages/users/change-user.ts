import type { User } from '../../../console/routes/users-upstream.ts'
import { callApi } from '../../api.ts'

/** The fields that an administrator may change. Missing fields stay unchanged. */
export interface UserChange {
  readonly email?: string
  readonly phone?: string
  readonly role?: string
  readonly password?: string
  readonly email_confirm?: boolean
  readonly phone_confirm?: boolean
  readonly ban_duration?: string
  readonly user_metadata?: Readonly<Record<string, unknown>>
  readonly app_metadata?: Readonly<Record<string, unknown>>
}

export function changeUser(userId: string, change: UserChange): Promise<User> {
  return callApi<User>(`/api/users/${userId}`, { method: 'PUT', body: change })
}
