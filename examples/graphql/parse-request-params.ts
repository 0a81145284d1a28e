import { createServer } from 'node:http'
import { parseRequestParams } from '@portcullis/graphql-over-http'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)

const handler = createHandler({
  schema,
  // Some old clients send `variables` as JSON text. The default parser refuses that; this one reads
  // the text, because variables must be an object, and leaves everything else to the default parser.
  async parseRequestParams(req) {
    // Not a JSON body: return nothing, so that the default parser answers.
    const type = req.raw.headers['content-type'] ?? ''
    if (req.method !== 'POST' || !type.startsWith('application/json')) return
    const body = typeof req.body === 'function' ? await req.body() : req.body
    const params = JSON.parse(String(body))
    if (Array.isArray(params)) throw new Error('Batches are not supported: send them one by one')
    if (typeof params?.variables === 'string') params.variables = JSON.parse(params.variables)
    return parseRequestParams({ ...req, body: params })
  },
})

const server = createServer((req, res) => {
  if (req.url?.split('?')[0] === '/graphql') handler(req, res)
  else res.writeHead(404).end()
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/graphql`))
