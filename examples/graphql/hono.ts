import { serve } from '@hono/node-server'
import { createHandler } from '@portcullis/graphql-over-http/use/hono'
import { Hono } from 'hono'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)
const app = new Hono()

app.all('/graphql', createHandler({ schema }))

serve({ fetch: app.fetch, port }, () => {
  console.log(`Listening on http://localhost:${port}/graphql`)
})
