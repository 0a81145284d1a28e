import { createServer } from 'node:http'
import type { ValidationRule } from 'graphql'
import { createHandler } from '../../src/adapters/http.ts'
import { schema } from '../schema.ts'
import { listenOn } from './listen.ts'

const noRule: ValidationRule = () => ({})

/** A list of rules does not disable the document cache. */
export const listen = () =>
  listenOn(createServer(createHandler({ schema, validationRules: [noRule], maxDepth: 20 })))
