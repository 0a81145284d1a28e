// Handlers in a project that TypeScript compiles to CommonJS. It uses no frameworks, whose
// declarations take TypeScript 5.9 many seconds.

import { createServer } from 'node:http'
import { createHandler as createCoreHandler, type Handler } from '@portcullis/graphql-over-http'
import { createClient, NetworkError } from '@portcullis/graphql-over-http/client'
import { createHandler as createNodeHandler } from '@portcullis/graphql-over-http/lib/use/node'
import { maskErrors } from '@portcullis/graphql-over-http/mask-errors'
import { createHandler as createLambdaHandler } from '@portcullis/graphql-over-http/use/aws-lambda'
import { createHandler as createFetchHandler } from '@portcullis/graphql-over-http/use/fetch'
import { createHandler as createHttpHandler } from '@portcullis/graphql-over-http/use/http'
import { buildSchema } from 'graphql'

const schema = buildSchema('type Query { hello: String }')

export const core: Handler = createCoreHandler({ schema })
export const http = createServer(createHttpHandler({ schema, formatError: maskErrors() }))
export const node = createServer(createNodeHandler({ schema }))
export const lambda = createLambdaHandler({ schema })
export const serve: (request: Request) => Promise<Response> = createFetchHandler({ schema })
// @ts-expect-error: not a profile
createHttpHandler({ schema, profile: '1999' })

export async function hello(): Promise<string | undefined> {
  try {
    const client = createClient({ url: 'http://localhost:4000/graphql' })
    return (await client.execute<{ hello: string }>({ query: '{ hello }' })).data?.hello
  } catch (error) {
    return error instanceof NetworkError ? error.result?.errors?.[0]?.message : undefined
  }
}
