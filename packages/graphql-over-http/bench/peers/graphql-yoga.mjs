import { createServer } from 'node:http'
import { createYoga } from 'graphql-yoga'
import { listenOn } from '../contenders/listen.ts'
import { schema } from '../schema.ts'

export const listen = () => listenOn(createServer(createYoga({ schema, logging: false })))
