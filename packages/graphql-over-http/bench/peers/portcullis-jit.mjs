import { createServer } from 'node:http'
import { compileQuery } from 'graphql-jit'
import { createHandler } from '../../src/adapters/http.ts'
import { createCompilingExecute } from '../compiling-execute.ts'
import { listenOn } from '../contenders/listen.ts'
import { schema } from '../schema.ts'

const execute = createCompilingExecute(compileQuery)

export const listen = () => listenOn(createServer(createHandler({ schema, execute })))
