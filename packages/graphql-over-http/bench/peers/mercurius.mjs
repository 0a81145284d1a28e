import { fastify } from 'fastify'
import mercurius from 'mercurius'
import { schema } from '../schema.ts'

/** @param {import('mercurius').MercuriusOptions} [options] */
export async function listen(options) {
  const app = fastify()
  app.register(mercurius, { schema, ...options })
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
}
