import { createHandler } from '@portcullis/graphql-over-http/use/fastify'
import Fastify from 'fastify'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)
const fastify = Fastify()

await fastify.register(async (scope) => {
  // Fastify's own parser would answer bad JSON in the shape of Fastify's errors. In this scope the
  // handler gets the body as it came; other routes keep the parser.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_req, body, done) => done(null, body))
  scope.all('/graphql', createHandler({ schema }))
})

await fastify.listen({ port })
console.log(`Listening on http://localhost:${port}/graphql`)
