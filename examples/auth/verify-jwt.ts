// An API for users with an access token. It verifies tokens without a request to the auth server.

import { createServer } from 'node:http'
import { createVerifier, toRefusal } from '@portcullis/auth/verify'

const port = Number(process.env.PORT ?? 4000)
const authUrl = process.env.AUTH_URL ?? 'http://localhost:8081'
const secret = process.env.AUTH_JWT_SECRET

// The verifier checks the signature, the expiry, the audience and the role.
const verifier = createVerifier({
  ...(secret ? { secret } : { authUrl }),
  roles: ['authenticated'],
})

const server = createServer(async (request, response) => {
  try {
    const { sub, email, role } = await verifier.verifyHeader(request.headers.authorization)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ sub, email, role }))
  } catch (error) {
    // 401 for an invalid token, 503 while the auth server is unreachable.
    const { status, headers, body } = toRefusal(error) ?? { status: 500, headers: {}, body: '' }
    if (status === 500) console.error(error)
    response.writeHead(status, headers).end(body)
  }
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/`))
