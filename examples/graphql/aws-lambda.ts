import { createHandler } from '@portcullis/graphql-over-http/use/aws-lambda'
import { schema } from './schema.ts'

// For a function behind a REST API, an HTTP API, a function URL or a load balancer. The route
// `ANY /graphql` of the gateway calls this function; the gateway answers other paths with 404.
export const handler = createHandler({ schema })
