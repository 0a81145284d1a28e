import { createServer } from 'node:http'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)
const handler = createHandler({ schema })

const server = createServer((req, res) => {
  if (req.url?.split('?')[0] === '/graphql') handler(req, res)
  else res.writeHead(404).end()
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/graphql`))
