import { createHandler } from '@portcullis/graphql-over-http/use/express'
import express from 'express'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)
const app = express()

// Mount it before any body parser: express.json() would answer invalid JSON itself, in HTML.
app.all('/graphql', createHandler({ schema }))

app.listen(port, () => console.log(`Listening on http://localhost:${port}/graphql`))
