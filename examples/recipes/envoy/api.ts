// An API behind Envoy, which has verified the token and passes the id of its user.

import { createServer } from 'node:http'

const port = Number(process.env.PORT ?? 4000)

const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: request.headers['x-user-id'] }))
})

// Other machines must not reach the API without Envoy.
server.listen(port, '127.0.0.1', () => console.log(`Listening on http://localhost:${port}/`))
