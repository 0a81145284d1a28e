import { createHandler } from '../../src/handler.ts'
import { schema } from '../schema.ts'

export const handle = createHandler({ schema })
