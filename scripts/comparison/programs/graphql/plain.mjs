// The same server without GraphQL: it reads the body and sends a fixed response.

import { createServer } from 'node:http'

const answer = '{"data":{"hello":"world"}}'

createServer(async (request, response) => {
  const chunks = await request.toArray()
  if (request.method === 'POST') JSON.parse(Buffer.concat(chunks))
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(answer)
}).listen(process.env.PORT)
