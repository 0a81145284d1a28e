import { createServer } from 'node:http'
import { createYoga } from 'graphql-yoga'
import { schema } from '../schema.mjs'

createServer(createYoga({ schema })).listen(process.env.PORT)
