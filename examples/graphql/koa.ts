import { createHandler } from '@portcullis/graphql-over-http/use/koa'
import Koa from 'koa'
import mount from 'koa-mount'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)
const app = new Koa()

app.use(mount('/graphql', createHandler({ schema })))

app.listen(port, () => console.log(`Listening on http://localhost:${port}/graphql`))
