/** @jsxImportSource react */

import { useEffect, useState } from 'react'
import { auth, callApi, useSession } from './session.ts'

export function App() {
  const session = useSession()
  if (session === undefined) return <p>Loading…</p>
  // The key makes React create a new page for another user, without the data of the previous one.
  return session === null ? <SignIn /> : <Account key={session.user.id} />
}

function SignIn() {
  const [message, setMessage] = useState('')

  async function submit(fields: FormData): Promise<void> {
    const credentials = { email: `${fields.get('email')}`, password: `${fields.get('password')}` }
    const isNew = fields.get('intent') === 'sign-up'
    const { data, error } = await (isNew
      ? auth.signUp(credentials)
      : auth.signInWithPassword(credentials))
    // With a session this component is about to disappear.
    if (!data.session) setMessage(error?.message ?? 'Follow the link in the email.')
  }

  return (
    <form action={submit}>
      <label>
        Email <input name="email" type="email" autoComplete="email" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit" name="intent" value="sign-in">
        Sign in
      </button>
      <button type="submit" name="intent" value="sign-up">
        Sign up
      </button>
      <p role="alert">{message}</p>
    </form>
  )
}

interface Profile {
  readonly id: string
  readonly email: string
}

function Account() {
  const [profile, setProfile] = useState<Profile>()
  const [problem, setProblem] = useState('')

  useEffect(() => {
    callApi('/api/me').then(
      (body) => setProfile(body as Profile),
      (error: Error) => setProblem(error.message),
    )
  }, [])

  return (
    <>
      <p role="alert">{problem}</p>
      {profile && <p>Signed in as {profile.email}</p>}
      <button type="button" onClick={() => auth.signOut()}>
        Sign out
      </button>
    </>
  )
}
