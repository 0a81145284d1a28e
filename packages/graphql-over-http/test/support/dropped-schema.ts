// Run with --expose-gc. Serves many schemas from one handler, one after the other, drops them, and
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
  // A source that all schemas share, one that only this schema has, and an invalid one.
  for (const query of ['{ hello }', `{ field${number} }`, '{ nope }'])
    await handler(post({ query }))
}
current = undefined

// WeakRefs keep their target until the job that dereferenced it has ended.
await new Promise((resolve) => setImmediate(resolve))
globalThis.gc?.()
console.log(kept.filter((reference) => reference.deref() !== undefined).length)
