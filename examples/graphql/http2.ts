import { createSecureServer } from 'node:http2'
import { createHandler } from '@portcullis/graphql-over-http/use/http2'
import { schema } from './schema.ts'
import { createSelfSigned } from './self-signed.ts'

const port = Number(process.env.PORT ?? 4000)
const handler = createHandler({ schema })

// A self-signed certificate for local tests. With a real one, read `key` and `cert` from its files.
// Without TLS, use `createServer` of the same module, and clients that start with HTTP/2.
const server = createSecureServer(createSelfSigned('localhost'), (req, res) => {
  if (req.url.split('?')[0] === '/graphql') handler(req, res)
  else res.writeHead(404).end()
})

server.listen(port, () => console.log(`Listening on https://localhost:${port}/graphql`))
