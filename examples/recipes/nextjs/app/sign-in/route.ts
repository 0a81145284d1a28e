import { openSession, redirectTo, toErrorPath } from '../../session.ts'

const siteUrl = process.env.SITE_URL ?? 'http://localhost:3000'

/** Receives the form of the page: with a password, or without one for a link by email. */
export async function POST(request: Request): Promise<Response> {
  // A page of another site must not sign its visitors in to an account of its choice.
  if (request.headers.get('sec-fetch-site') === 'cross-site') {
    return new Response(null, { status: 403 })
  }
  const form = await request.formData()
  const email = `${form.get('email')}`
  const password = `${form.get('password') ?? ''}`
  const { auth, responseHeaders } = openSession(request.headers.get('cookie'))
  const options = { emailRedirectTo: `${siteUrl}/auth/callback` }
  const { error } =
    password === ''
      ? await auth.signInWithOtp({ email, options })
      : await auth.signInWithPassword({ email, password })
  return redirectTo(error ? toErrorPath(error.code) : '/', responseHeaders)
}
