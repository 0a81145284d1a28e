// Sessions in cookies, with @supabase/ssr. This module is the only one that knows the cookies.

import { createServerClient, parseCookieHeader, serializeCookieHeader } from '@supabase/ssr'

/** The URL above `/auth/v1`, which the client library appends. */
const authUrl = process.env.AUTH_URL ?? 'http://localhost:8081'

/**
 * Opens the session of one request. Never share it with another request.
 * @param cookie the header of the request
 * @returns the client, and the headers that the response needs to store a changed session
 */
export function openSession(cookie: string | null) {
  const stored = new Map(
    parseCookieHeader(cookie ?? '').map(({ name, value = '' }) => [name, value]),
  )
  const responseHeaders = new Headers()
  const { auth } = createServerClient(authUrl, process.env.AUTH_API_KEY ?? 'no-api-key', {
    cookies: {
      getAll: () => [...stored].map(([name, value]) => ({ name, value })),
      setAll(changed, headers) {
        for (const { name, value, options } of changed) {
          if (value === '') stored.delete(name)
          else stored.set(name, value)
          responseHeaders.append('set-cookie', serializeCookieHeader(name, value, options))
        }
        // A cache must not give the cookies of one user to another.
        for (const [name, value] of Object.entries(headers)) responseHeaders.set(name, value)
      },
    },
    // Scripts of the page need no tokens: everything below runs on the server.
    cookieOptions: { httpOnly: true, secure: process.env.NODE_ENV === 'production' },
  })
  /** The cookies after the changes, as a request header. */
  const toCookieHeader = () =>
    [...stored].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('; ')
  return { auth, responseHeaders, toCookieHeader }
}

/** Refreshes the session of a request before a page is rendered, because pages cannot set cookies. */
export async function refreshSession(request: Request) {
  const { auth, responseHeaders, toCookieHeader } = openSession(request.headers.get('cookie'))
  // Refreshes the session if the access token is about to expire.
  await auth.getSession()
  const requestHeaders = new Headers(request.headers)
  requestHeaders.set('cookie', toCookieHeader())
  return { requestHeaders, responseHeaders }
}

/** Returns the claims of the signed-in user, after a check of the signature of the access token. */
export async function findUser(cookie: string | null) {
  const { data } = await openSession(cookie).auth.getClaims()
  return data?.claims
}

/** Redirects the browser after a form or a link, and stores the session. */
export function redirectTo(path: string, headers = new Headers()): Response {
  headers.set('location', path)
  return new Response(null, { status: 303, headers })
}

/** The page that reports an error, by its code. */
export function toErrorPath(code = 'unknown'): string {
  return `/?error=${encodeURIComponent(code)}`
}
