import { createServer } from 'node:http'
import { parse } from 'graphql'
import { createHandler } from '../../src/adapters/http.ts'
import { schema } from '../schema.ts'
import { listenOn } from './listen.ts'

/** A custom parser disables the document cache: every request is parsed and validated. */
export const listen = () =>
  listenOn(createServer(createHandler({ schema, parse: (source) => parse(source) })))
