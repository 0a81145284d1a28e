import { createHandler } from '@portcullis/graphql-over-http/use/fastify'
import Fastify from 'fastify'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)
const fastify = Fastify()

await fastify.register(async (scope) => {
  // Fastify's parser would answer invalid JSON in its own format. In this scope the handler gets
  // the unparsed body; other routes keep the parser.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_req, body, done) => done(null, body))
  scope.all('/graphql', createHandler({ schema }))
})

await fastify.listen({ port })
console.log(`Listening on http://localhost:${port}/graphql`)
