import Fastify, { type FastifyInstance } from 'fastify'
import { readHeader } from './call.ts'
import { addPipeline, type Pipeline, type PipelineParts, toNoRoute } from './pipeline.ts'
import { countRequests, toRequestId, toSlowClientOptions } from './slow-clients.ts'
import { wantsVersionedErrors } from './stages/dialect.ts'
import { apiVersion, versionHeader } from './stages/error-answer.ts'
import { compileLazily } from './validation.ts'

/** Creates Fastify with options for a public server; `pipeline.ts` handles the requests. */
export function createServer(parts: PipelineParts): FastifyInstance {
  const { api } = parts.services.config
  const server = Fastify({
    bodyLimit: api.bodyLimitBytes,
    routerOptions: { ignoreTrailingSlash: true },
    genReqId: ({ headers }) => toRequestId(readHeader(headers, api.requestIdHeader ?? '')),
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // Existing connections are still served while closing; `connections.ts` closes them.
    return503OnClosing: false,
    // Fastify calls this for a path that cannot be decoded.
    frameworkErrors: (_error, request, reply) => {
      pipeline.calls.begin(request, reply)
      pipeline.fail(request, reply, toNoRoute(request))
    },
    ...toSlowClientOptions(api.maxRequestDurationMs),
  })
  server.setValidatorCompiler(compileLazily)
  countRequests(server.server)
  server.addHook('onSend', (request, reply, _payload, done) => {
    const version = readHeader(request.headers, versionHeader)
    if (wantsVersionedErrors(api.compatMode, version)) reply.header(versionHeader, apiVersion)
    done()
  })
  const pipeline: Pipeline = addPipeline(server, parts)
  return server
}
