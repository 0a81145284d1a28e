// deno run --allow-net --allow-env examples/graphql/fetch-deno.ts
import { createHandler } from '@portcullis/graphql-over-http/use/fetch'
import { schema } from './schema.ts'

/** The part of Deno that this file uses. Deno has its own types, but they are not installed here. */
declare const Deno: {
  readonly env: { get(name: string): string | undefined }
  serve(
    options: { port: number; onListen(): void },
    handler: (req: Request) => Response | Promise<Response>,
  ): unknown
}

const port = Number(Deno.env.get('PORT') ?? 4000)
const onListen = () => console.log(`Listening on http://localhost:${port}/graphql`)
const handler = createHandler({ schema })

Deno.serve({ port, onListen }, (req) =>
  new URL(req.url).pathname === '/graphql' ? handler(req) : new Response(null, { status: 404 }),
)
