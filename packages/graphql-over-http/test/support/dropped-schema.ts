// Run with --expose-gc. Serves many schemas, each for a moment, from one handler, drops them, and
// prints how many of them are still in memory.
import { buildSchema, type GraphQLSchema } from 'graphql'
import { createHandler } from '../../src/handler.ts'
import { post } from './request.ts'

const SCHEMAS = 200
let current: GraphQLSchema | undefined
const kept: WeakRef<GraphQLSchema>[] = []

const handler = createHandler({
  schema: () => {
    if (!current) throw new Error('no schema is current')
    return current
  },
})

for (let number = 0; number < SCHEMAS; number += 1) {
  current = buildSchema(`type Query { hello: String field${number}: String }`)
  kept.push(new WeakRef(current))
  // The same source for all, one of its own, and one that is invalid: all kinds of verdict.
  for (const query of ['{ hello }', `{ field${number} }`, '{ nope }'])
    await handler(post({ query }))
}
current = undefined

// WeakRefs hold their target until the job that looked at it has ended.
await new Promise((resolve) => setImmediate(resolve))
globalThis.gc?.()
console.log(kept.filter((reference) => reference.deref() !== undefined).length)
