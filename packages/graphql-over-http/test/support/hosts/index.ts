import { expressHosts } from './express.ts'
import { fastifyHosts } from './fastify.ts'
import { fetchHosts } from './fetch.ts'
import type { Host } from './host.ts'
import { httpHosts } from './http.ts'
import { http2Hosts } from './http2.ts'
import { koaHosts } from './koa.ts'
import { otherRuntimeHosts } from './other-runtimes.ts'
import { serverlessHosts } from './serverless.ts'

/** Whether the tests have already run on a newer Node or graphql: see scripts/testing/legs.ts. */
export const isRepetition: boolean = process.env['REPEATS_MAIN_LEG'] === 'true'

/**
 * Every host that the library has an adapter for. Add a row for a new adapter here. Hosts in their
 * own processes use their own runtime and graphql, so a repetition would be the same run again.
 */
export const hosts: readonly Host[] = [
  ...httpHosts,
  ...http2Hosts,
  ...expressHosts,
  ...fastifyHosts,
  ...koaHosts,
  ...fetchHosts,
  ...(isRepetition ? [] : otherRuntimeHosts),
  ...serverlessHosts,
]
