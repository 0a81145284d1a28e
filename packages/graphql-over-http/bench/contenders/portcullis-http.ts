import { createServer } from 'node:http'
import { createHandler } from '../../src/adapters/http.ts'
import { schema } from '../schema.ts'
import { listenOn } from './listen.ts'

export const listen = () => listenOn(createServer(createHandler({ schema })))
