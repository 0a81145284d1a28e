import { readFileSync } from 'node:fs'
import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth'
import { parse } from 'graphql'
import { createClient } from 'graphql-http'
import { createHandler } from 'graphql-http/lib/use/http'
import { missing, withPlugin } from '../../feature-values.mjs'
import { schema } from '../probed-schema.mjs'

const create = (options) => createHandler({ schema, ...options })

/** Without these options its rules throw, which results in a 500. */
const armor = {
  n: 5,
  propagateOnRejection: false,
  onReject: [(context, error) => context.reportError(error)],
}

const manifest = new URL('../../node_modules/graphql-http/package.json', import.meta.url)

export const features = {
  graphql17: () => JSON.parse(readFileSync(manifest, 'utf8')).peerDependencies.graphql,
  client: {
    server: () => create(),
    query: (url) =>
      new Promise((resolve, reject) => {
        let hello
        const next = ({ data }) => {
          hello = data.hello
        }
        createClient({ url }).subscribe(
          { query: '{ hello }' },
          { next, error: reject, complete: () => resolve(hello) },
        )
      }),
  },
  // `formatError` leaves the decision to its users: see the task.
  masked: () => create(),
  bodyLimit: () => create(),
  maxTokens: () => create({ parse: (source) => parse(source, { maxTokens: 1000 }) }),
  maxDepth: withPlugin('graphql-armor', () => create({ validationRules: [maxDepthRule(armor)] })),
  maxAliases: withPlugin('graphql-armor', () =>
    create({ validationRules: [maxAliasesRule(armor)] }),
  ),
  csrf: () => create(),
  // Node's own signal, which Node 22 does not have.
  abort: () => create({ context: ({ raw }) => ({ signal: raw.signal }) }),
  persisted: (documents) =>
    create({
      parseRequestParams: async (request) => {
        const { extensions } = JSON.parse(await request.body())
        return { query: documents[extensions?.persistedQuery.sha256Hash] ?? '' }
      },
    }),
  automatic: missing(/persisted/i),
  batching: missing(/batch/i),
  defer: missing(/\bdefer\b|multipart/i),
  subscriptions: missing(/event-stream|EventSource/i),
  graphiql: missing(/graphiql|playground/i),
  uploads: missing(/upload|multipart/i),
}
