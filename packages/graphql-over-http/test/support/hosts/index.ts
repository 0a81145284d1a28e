import { expressHosts } from './express.ts'
import { fastifyHosts } from './fastify.ts'
import { fetchHosts } from './fetch.ts'
import type { Host } from './host.ts'
import { httpHosts } from './http.ts'
import { http2Hosts } from './http2.ts'
import { koaHosts } from './koa.ts'
import { otherRuntimeHosts } from './other-runtimes.ts'
import { serverlessHosts } from './serverless.ts'

/** Every host the library has an adapter for. A new adapter gets its row here. */
export const hosts: readonly Host[] = [
  ...httpHosts,
  ...http2Hosts,
  ...expressHosts,
  ...fastifyHosts,
  ...koaHosts,
  ...fetchHosts,
  ...otherRuntimeHosts,
  ...serverlessHosts,
]
