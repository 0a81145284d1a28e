import { createHandler } from '@portcullis/graphql-over-http/use/netlify'
import { schema } from './schema.ts'

// As netlify/functions/graphql.ts this answers at /.netlify/functions/graphql, and at /graphql with
// a redirect from there. The platform answers other paths with 404.
export const handler = createHandler({ schema })
