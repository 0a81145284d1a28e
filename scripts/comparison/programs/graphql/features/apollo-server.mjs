import { readFileSync } from 'node:fs'
import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'
import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth'
import { documented, missing, withPlugin } from '../../feature-values.mjs'
import { schema } from '../probed-schema.mjs'

async function create(options, context = async () => ({})) {
  const server = new ApolloServer({ schema, ...options })
  const listen = { host: '127.0.0.1', port: 0 }
  const { url } = await startStandaloneServer(server, { listen, context })
  return url
}

/** Without these options its rules throw, which results in a 500. */
const armor = {
  n: 5,
  propagateOnRejection: false,
  onReject: [(context, error) => context.reportError(error)],
}

const manifest = new URL('../../node_modules/@apollo/server/package.json', import.meta.url)

/** Its cache, filled with the documents. */
const toCache = (documents) => ({
  get: async (key) => documents[key.replace('apq:', '')],
  set: async () => {},
  delete: async () => true,
})

export const features = {
  graphql17: () => JSON.parse(readFileSync(manifest, 'utf8')).peerDependencies.graphql,
  client: missing(/createClient/),
  // `formatError` leaves the decision to its users: see the task.
  masked: () => create(),
  bodyLimit: () => create(),
  maxTokens: () => create({ parseOptions: { maxTokens: 1000 } }),
  maxDepth: withPlugin('graphql-armor', () => create({ validationRules: [maxDepthRule(armor)] })),
  maxAliases: withPlugin('graphql-armor', () =>
    create({ validationRules: [maxAliasesRule(armor)] }),
  ),
  csrf: () => create(),
  // Node's own signal, which Node 22 does not have.
  abort: () => create({}, async ({ req }) => ({ signal: req.signal })),
  persisted: (documents) => create({ persistedQueries: { cache: toCache(documents) } }),
  automatic: () => create(),
  batching: () => create({ allowBatchedHttpRequests: true }),
  // It needs an early version of graphql 17.
  defer: documented(
    'https://www.apollographql.com/docs/apollo-server/workflow/requests#incremental-delivery-experimental',
  ),
  subscriptions: documented('https://www.apollographql.com/docs/apollo-server/data/subscriptions'),
  graphiql: () => create(),
  uploads: () => create({ csrfPrevention: false }),
}
