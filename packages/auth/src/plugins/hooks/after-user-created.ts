import type { NewUserNotice } from './before-user-created.ts'
import { defineNotice } from './hook.ts'

export const afterUserCreated = defineNotice<NewUserNotice>({
  variable: 'AFTER_USER_CREATED',
  purpose: 'is notified of new users',
  name: 'after-user-created',
})
