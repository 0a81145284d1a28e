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
  const [problem, setProblem] = useState('')

  async function submit(fields: FormData): Promise<void> {
    const credentials = { email: `${fields.get('email')}`, password: `${fields.get('password')}` }
    const isNew = fields.get('action') === 'sign-up'
    const { error } = await (isNew
      ? auth.signUp(credentials)
      : auth.signInWithPassword(credentials))
    setProblem(error?.message ?? '')
  }

  return (
    <form action={submit}>
      <label>
        Email <input name="email" type="email" autoComplete="email" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit" name="action" value="sign-in">
        Sign in
      </button>
      <button type="submit" name="action" value="sign-up">
        Sign up
      </button>
      <p role="alert">{problem}</p>
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
