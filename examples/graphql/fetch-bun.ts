// bun examples/graphql/fetch-bun.ts
import { createHandler } from '@portcullis/graphql-over-http/use/fetch'
import { schema } from './schema.ts'

/** The part of Bun that this file uses. Bun has its own types, but they are not installed here. */
declare const Bun: {
  serve(options: { port: number; fetch(req: Request): Response | Promise<Response> }): {
    readonly port: number
  }
}

const handler = createHandler({ schema })

const server = Bun.serve({
  port: Number(process.env.PORT ?? 4000),
  fetch: (req) =>
    new URL(req.url).pathname === '/graphql' ? handler(req) : new Response(null, { status: 404 }),
})
console.log(`Listening on http://localhost:${server.port}/graphql`)
