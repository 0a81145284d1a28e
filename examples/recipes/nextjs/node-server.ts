// The same application without Next.js, for other frameworks that render pages on a server.

import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { html } from 'hono/html'
import { GET as callback } from './app/auth/callback/route.ts'
import { POST as signIn } from './app/sign-in/route.ts'
import { POST as signOut } from './app/sign-out/route.ts'
import { findUser, refreshSession } from './session.ts'

const port = Number(process.env.PORT ?? 3000)
const app = new Hono()

app.get('/', async (c) => {
  const { requestHeaders, responseHeaders } = await refreshSession(c.req.raw)
  const user = await findUser(requestHeaders.get('cookie'))
  for (const [name, value] of responseHeaders) c.header(name, value, { append: true })
  return c.html(user ? toAccountPage(user.email) : signInPage)
})

app.get('/auth/callback', (c) => callback(c.req.raw))
app.post('/sign-in', (c) => signIn(c.req.raw))
app.post('/sign-out', (c) => signOut(c.req.raw))

const signInPage = html`<!doctype html>
<form method="post" action="/sign-in">
  <input name="email" type="email" aria-label="Email">
  <input name="password" type="password" aria-label="Password">
  <button>Sign in</button>
</form>`

const toAccountPage = (email: string | undefined) => html`<!doctype html>
<form method="post" action="/sign-out">
  <p>Signed in as ${email}</p>
  <button>Sign out</button>
</form>`

serve({ fetch: app.fetch, port }, () => console.log(`Listening on http://localhost:${port}/`))
