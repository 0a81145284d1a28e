// Sets the plan and the tenant of a user:  set-plan.ts USER_ID PLAN [TENANT]

import { GoTrueAdminApi } from '@supabase/auth-js'

const [userId = '', plan, tenant] = process.argv.slice(2)

const admin = new GoTrueAdminApi({
  url: process.env.AUTH_URL ?? 'http://localhost:8081',
  headers: { Authorization: `Bearer ${process.env.AUTH_ADMIN_KEY}` },
})

const { data, error } = await admin.updateUserById(userId, { app_metadata: { plan, tenant } })
if (error) throw error
console.log(`${data.user.email}: ${JSON.stringify(data.user.app_metadata)}`)
