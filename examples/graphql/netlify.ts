import { createHandler } from '@portcullis/graphql-over-http/use/netlify'
import { schema } from './schema.ts'

// As netlify/functions/graphql.ts it serves /.netlify/functions/graphql, and /graphql if you add a
// redirect. The platform answers other paths with 404.
export const handler = createHandler({ schema })
