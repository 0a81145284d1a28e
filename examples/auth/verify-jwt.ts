// An API that lets in whoever has an access token, without asking the auth server each time.

import { createServer } from 'node:http'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'

const port = Number(process.env.PORT ?? 4000)
const authUrl = process.env.AUTH_URL ?? 'http://localhost:8081'
const secret = process.env.AUTH_JWT_SECRET

const publicKeys = createRemoteJWKSet(new URL(`${authUrl}/.well-known/jwks.json`))

/** @throws {errors.JOSEError} */
async function readClaims(authorization = '') {
  const token = authorization.replace(/^Bearer /i, '')
  // Say which algorithms you expect: a token must not choose how it is checked.
  const { payload } = secret
    ? await jwtVerify(token, new TextEncoder().encode(secret), { algorithms: ['HS256'] })
    : await jwtVerify(token, publicKeys, { algorithms: ['ES256', 'RS256', 'EdDSA'] })
  return payload
}

const server = createServer(async (request, response) => {
  try {
    const { sub, email, role } = await readClaims(request.headers.authorization)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ sub, email, role }))
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(`${error.code}\n`)
  }
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/`))
