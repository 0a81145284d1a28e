import { createServer } from 'node:http'
import { createHandler } from 'graphql-http/lib/use/http'
import { listenOn } from '../contenders/listen.ts'
import { schema } from '../schema.ts'

export const listen = () => listenOn(createServer(createHandler({ schema })))
