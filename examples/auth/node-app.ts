// A Node program that signs a user up with the unchanged client of Supabase.

import { AuthClient } from '@supabase/auth-js'

const url = process.env.AUTH_URL ?? 'http://localhost:8081'
const auth = new AuthClient({ url, autoRefreshToken: false, persistSession: false })

const email = process.env.EMAIL ?? `ada-${Date.now()}@example.com`
const password = 'correct horse battery'

const signedUp = await auth.signUp({ email, password, options: { data: { name: 'Ada' } } })
if (signedUp.error) throw signedUp.error
console.log(`Signed up ${signedUp.data.user?.email}`)
// Without AUTH_MAILER_AUTOCONFIRM there is no session yet: the user has to follow the link in the email.

const signedIn = await auth.signInWithPassword({ email, password })
if (signedIn.error) throw signedIn.error
const { session } = signedIn.data
console.log(`Signed in; the access token is valid for ${session.expires_in} s`)

const refreshed = await auth.refreshSession(session)
if (refreshed.error) throw refreshed.error
const token = refreshed.data.session?.access_token
console.log('Refreshed the session')

const { data } = await auth.getUser(token)
console.log(`Hello, ${data.user?.user_metadata['name']}`)

const api = process.env.API_URL
if (api) {
  // Started by: npx node examples/auth/verify-jwt.ts
  const response = await fetch(api, { headers: { authorization: `Bearer ${token}` } })
  console.log(`The API says: ${await response.text()}`)
}

await auth.signOut()
