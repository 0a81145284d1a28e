import { createHandler } from 'graphql-http'
import { schema } from '../schema.ts'

export const handle = createHandler({ schema })
