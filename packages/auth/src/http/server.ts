import Fastify, {
  type FastifyInstance,
  type FastifySchema,
  type FastifySchemaCompiler,
} from 'fastify'
import { readHeader } from './call.ts'
import { addPipeline, type Pipeline, type PipelineParts, toNoRoute } from './pipeline.ts'
import { countRequests, toRequestId, toSlowClientOptions } from './slow-clients.ts'
import { apiVersion, versionHeader } from './stages/error-answer.ts'
import { wantsVersionedErrors } from './stages/read-call.ts'

/** Of the first server of a process: it keeps what it has compiled, which is the same for the others. */
let schemaCompiler: FastifySchemaCompiler<FastifySchema> | undefined

/** Fastify with the options that a public server needs; `pipeline.ts` has what happens to a request. */
export function createServer(parts: PipelineParts): FastifyInstance {
  const { api } = parts.services.config
  const server = Fastify({
    bodyLimit: api.bodyLimitBytes,
    routerOptions: { ignoreTrailingSlash: true },
    genReqId: ({ headers }) => toRequestId(readHeader(headers, api.requestIdHeader ?? '')),
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // Who is connected already is answered; `connections.ts` sees to it that this ends.
    return503OnClosing: false,
    // A path that cannot even be read.
    frameworkErrors: (_error, request, reply) => {
      pipeline.calls.begin(request, reply)
      pipeline.fail(request, reply, toNoRoute(request))
    },
    ...toSlowClientOptions(api.maxRequestDurationMs),
  })
  countRequests(server.server)
  if (schemaCompiler) server.setValidatorCompiler(schemaCompiler)
  server.addHook('onReady', async () => {
    schemaCompiler ??= server.validatorCompiler
  })
  server.addHook('onSend', (request, reply, _payload, done) => {
    const version = readHeader(request.headers, versionHeader)
    if (wantsVersionedErrors(api.compatMode, version)) reply.header(versionHeader, apiVersion)
    done()
  })
  const pipeline: Pipeline = addPipeline(server, parts)
  return server
}
