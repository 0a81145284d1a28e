import { type GraphQLFieldResolver, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import type { AdapterOptions } from '../../../src/adapters/shared/adapter-options.ts'
import type { HandlerOptions } from '../../../src/options.ts'
import type { Response } from '../../../src/request.ts'
import { schema } from './schema.ts'

export type ScenarioOptions<RequestContext> = HandlerOptions<unknown, RequestContext, object> &
  AdapterOptions

/** Sets a header through the response that an adapter exposes in `req.context`. */
export type SetHeader<RequestContext> = (
  context: RequestContext,
  name: string,
  value: string,
) => void

/** The body limit of `/limited`. */
export const limitBytes = 1000

/**
 * A query that waits until its client has disconnected, and two queries that wait for it: until it
 * runs, and until it was aborted.
 */
function createDisconnectScenario(): ScenarioOptions<unknown> {
  const running = Promise.withResolvers<string>()
  const aborted = Promise.withResolvers<string>()
  const wait: GraphQLFieldResolver<unknown, { signal?: AbortSignal }> = (
    _source,
    _args,
    { signal },
    info,
  ) =>
    new Promise((_resolve, reject) => {
      running.resolve('running')
      signal?.addEventListener('abort', () => {
        // graphql 16 has no signal in the last argument.
        const own: AbortSignal | undefined = info.getAbortSignal?.()
        aborted.resolve(`context ${signal.aborted}, execute ${own?.aborted}`)
        reject(signal.reason)
      })
    })
  return {
    schema: new GraphQLSchema({
      query: new GraphQLObjectType({
        name: 'Query',
        fields: {
          wait: { type: GraphQLString, resolve: wait },
          running: { type: GraphQLString, resolve: () => running.promise },
          aborted: { type: GraphQLString, resolve: () => aborted.promise },
        },
      }),
    }),
    context: ({ signal }) => ({ signal }),
  }
}

/**
 * One handler per path, the same on every host. Each path has a different configuration. Hosts in
 * other processes cannot receive options from a test, so all configurations are defined here.
 */
export function createScenarios<RequestContext>(
  setHeader: SetHeader<RequestContext> = () => {},
): ReadonlyMap<string, ScenarioOptions<RequestContext>> {
  const endWith = (response: Response): ScenarioOptions<RequestContext> => ({
    schema,
    context: () => response,
  })
  return new Map<string, ScenarioOptions<RequestContext>>([
    ['/graphql', { schema }],
    ['/2026', { schema, profile: '2026' }],
    ['/limited', { schema, bodyLimitBytes: limitBytes }],
    ['/unlimited', { schema, bodyLimitBytes: false }],
    ['/disconnect', createDisconnectScenario()],
    [
      '/vary',
      {
        schema,
        vary: true,
        context: ({ context }) => {
          setHeader(context, 'vary', 'Origin')
          return {}
        },
      },
    ],
    [
      '/headers',
      {
        schema,
        context: async ({ context }) => {
          setHeader(context, 'x-custom', 'kept')
          setHeader(context, 'set-cookie', 'session=kept; Path=/')
          return {}
        },
      },
    ],
    [
      '/throws',
      {
        schema,
        context: () => {
          throw new Error('a secret')
        },
      },
    ],
    ['/rejects', { schema, onOperation: () => Promise.reject(new Error('a secret')) }],
    ['/denied', endWith([null, { status: 401, statusText: 'Unauthorized' }])],
    ['/no-content', endWith([null, { status: 204, statusText: 'No Content' }])],
    [
      '/pair',
      endWith([
        'Žluťoučký kůň',
        {
          status: 402,
          statusText: 'Pay First',
          headers: { 'content-type': 'text/plain; charset=utf-8', 'x-pair': 'sent' },
        },
      ]),
    ],
    // JavaScript code can leave the status text out.
    ['/no-text', endWith([null, { status: 403 } as unknown as Response[1]])],
    [
      '/header-from-variable',
      {
        schema,
        onOperation: (_req, { variableValues }) => [
          '{}',
          {
            status: 200,
            statusText: 'OK',
            headers: { 'x-value': String(variableValues?.['value']) },
          },
        ],
      },
    ],
    [
      '/late',
      {
        schema,
        // Headers and body of the request are read only after this wait.
        parseRequestParams: () => new Promise((resolve) => setTimeout(resolve, 20)),
      },
    ],
  ])
}
