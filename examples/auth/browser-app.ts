// A page for sign-up, sign-in, magic links and sign-out. The session survives a reload.

import { createServer } from 'node:http'
import { build } from 'esbuild'

const port = Number(process.env.PORT ?? 3000)
const authUrl = process.env.AUTH_URL ?? 'http://localhost:8081'

const { outputFiles } = await build({
  entryPoints: [`${import.meta.dirname}/browser-page.ts`],
  bundle: true,
  format: 'esm',
  write: false,
})

const page = `<!doctype html>
<html lang="en" data-auth="${authUrl}">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign in</title>
<form>
  <label>Email <input name="email" type="email" autocomplete="email"></label>
  <label>Password <input name="password" type="password" autocomplete="current-password"></label>
  <button value="sign-in">Sign in</button>
  <button value="sign-up">Sign up</button>
  <button value="magic-link">Send a link</button>
  <button value="sign-out">Sign out</button>
</form>
<p><output></output></p>
<script type="module" src="/page.js"></script>
</html>`

const server = createServer((request, response) => {
  const isScript = request.url === '/page.js'
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
  response.end(isScript ? outputFiles[0]?.contents : page)
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/`))
