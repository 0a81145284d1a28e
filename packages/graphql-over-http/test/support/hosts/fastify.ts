import type { Server } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { createHandler, type RequestContext } from '../../../src/adapters/fastify.ts'
import type { Host, Limits } from './host.ts'
import { http2Host } from './http2-host.ts'
import { mount } from './mount.ts'
import { nodeHost } from './node-host.ts'
import type { Probe } from './probe.ts'

const readsBodyItself = 'fastify has its own limit'

export const fastifyHosts: readonly Host[] = [
  fastifyHost('fastify 5', undefined, {
    readsBodyItself,
    parsesBodyItself: "fastify's parser answers malformed bodies itself",
  }),
  fastifyHost('fastify 5 with a text parser', 'string', {
    readsBodyItself,
    decodesBodyItself: 'the parser replaces what is not UTF-8',
  }),
  fastifyHost('fastify 5 with a byte parser', 'buffer', { readsBodyItself }),
  http2Host(
    'fastify 5 over HTTP/2',
    'http',
    // Fastify's types distinguish the two kinds of server; the adapter does not.
    (probe) => build(probe, Fastify({ http2: true }) as never, 'buffer'),
    { readsBodyItself },
  ),
]

function fastifyHost(
  name: string,
  parseAs: 'string' | 'buffer' | undefined,
  limits: Limits = {},
): Host {
  return nodeHost(name, (probe) => build(probe, Fastify(), parseAs), limits)
}

async function build(
  probe: Probe,
  fastify: FastifyInstance,
  parseAs?: 'string' | 'buffer',
): Promise<Server> {
  if (parseAs) {
    fastify.removeAllContentTypeParsers()
    fastify.addContentTypeParser('*', { parseAs }, (_req, body, done) => done(null, body))
  }
  const handlers = mount(
    probe,
    ({ reply }: RequestContext, header, value) => {
      reply.header(header, value)
    },
    createHandler,
  )
  for (const [path, handler] of handlers) fastify.all(path, handler)
  await fastify.ready()
  return fastify.server
}
