// This script runs in the browser; browser-app.ts serves it.

import { AuthClient } from '@supabase/auth-js'

const url = document.documentElement.dataset['auth'] ?? ''
// PKCE: links in email lead back here with a code that only this browser can use.
const auth = new AuthClient({ url, flowType: 'pkce', detectSessionInUrl: true })

const form = document.querySelector('form') ?? document.createElement('form')
const status = document.querySelector('output') ?? document.createElement('output')

auth.onAuthStateChange((_event, session) => {
  status.textContent = session ? `Signed in as ${session.user.email}` : 'Signed out'
})

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const fields = new FormData(form)
  const credentials = { email: `${fields.get('email')}`, password: `${fields.get('password')}` }
  const actions: Readonly<Record<string, () => Promise<{ error: Error | null }>>> = {
    'sign-up': () => auth.signUp(credentials),
    'sign-in': () => auth.signInWithPassword(credentials),
    'magic-link': () => auth.signInWithOtp({ email: credentials.email }),
    'sign-out': () => auth.signOut(),
  }
  const name = event.submitter?.getAttribute('value') ?? 'sign-in'
  const { error } = (await actions[name]?.()) ?? {}
  if (error) status.textContent = error.message
})
