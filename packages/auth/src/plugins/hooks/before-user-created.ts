import type { UserRecord } from '../../features/users/user-record.ts'
import { defineNotice } from './hook.ts'

export interface NewUserNotice {
  readonly user: UserRecord
}

export const beforeUserCreated = defineNotice<NewUserNotice>({
  variable: 'BEFORE_USER_CREATED',
  purpose: 'may reject new users',
  name: 'before-user-created',
})
