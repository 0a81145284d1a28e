import express from 'express'
import Fastify from 'fastify'

/** The same Express app with and without a middleware. */
export function serveExpress(middleware) {
  const app = express()
  if (middleware) app.use(middleware)
  app.get('/', (_request, response) => response.send('welcome'))
  return app.listen(process.env.PORT)
}

/** The same Fastify app with and without the additions of `setUp`. */
export async function serveFastify(setUp) {
  const app = Fastify()
  await setUp?.(app)
  app.get('/', () => 'welcome')
  return app.listen({ port: Number(process.env.PORT) })
}
