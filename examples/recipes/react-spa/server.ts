// Serves the page and its API from one origin, so that the API needs no CORS.

import { serve } from '@hono/node-server'
import { type AccessTokenClaims, createVerifier } from '@portcullis/auth/verify'
import { requireToken } from '@portcullis/auth/verify/hono'
import { build } from 'esbuild'
import { Hono } from 'hono'

const port = Number(process.env.PORT ?? 3000)
const authUrl = process.env.AUTH_URL ?? 'http://localhost:8081'
const verifier = createVerifier({ authUrl })

const { outputFiles } = await build({
  entryPoints: [`${import.meta.dirname}/main.tsx`],
  bundle: true,
  format: 'esm',
  minify: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  write: false,
})
const script = outputFiles[0]?.text ?? ''

const page = `<!doctype html>
<html lang="en" data-auth="${authUrl}">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Notes</title>
<link rel="icon" href="data:,">
<div id="root"></div>
<script type="module" src="/page.js"></script>
</html>`

const app = new Hono<{ Variables: { claims: AccessTokenClaims } }>()

app.use('/api/*', requireToken({ verifier }))
app.get('/api/me', (c) => {
  const { sub, email } = c.get('claims')
  return c.json({ id: sub, email })
})

app.get('/page.js', (c) => c.body(script, 200, { 'content-type': 'text/javascript' }))
app.get('*', (c) => c.html(page))

serve({ fetch: app.fetch, port }, () => console.log(`Listening on http://localhost:${port}/`))
