import { fastify } from 'fastify'
import { createHandler } from '../../src/adapters/fastify.ts'
import { schema } from '../schema.ts'

const app = fastify()
app.all('/graphql', createHandler({ schema }))

export async function listen(): Promise<number> {
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
}
