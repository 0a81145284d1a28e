import { readFileSync } from 'node:fs'
import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth'
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens'
import { useAPQ } from '@graphql-yoga/plugin-apq'
import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream'
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations'
import { createYoga } from 'graphql-yoga'
import { missing, withPlugin } from '../../feature-values.mjs'
import { schema } from '../probed-schema.mjs'

const create = (options) => createYoga({ schema, logging: false, ...options })
const withPlugins = (name, ...plugins) => withPlugin(name, () => create({ plugins }))

const manifest = new URL('../../node_modules/graphql-yoga/package.json', import.meta.url)

export const features = {
  graphql17: () => JSON.parse(readFileSync(manifest, 'utf8')).peerDependencies.graphql,
  client: missing(/createClient/),
  masked: () => create(),
  bodyLimit: () => create(),
  maxTokens: withPlugins('graphql-armor', maxTokensPlugin({ n: 1000 })),
  maxDepth: withPlugins('graphql-armor', maxDepthPlugin({ n: 5 })),
  maxAliases: withPlugins('graphql-armor', maxAliasesPlugin({ n: 5 })),
  csrf: withPlugins('plugin-csrf-prevention', useCSRFPrevention()),
  abort: () => create({ context: ({ request }) => ({ signal: request.signal }) }),
  persisted: withPlugin('plugin-persisted-operations', (documents) =>
    create({ plugins: [usePersistedOperations({ getPersistedOperation: (id) => documents[id] })] }),
  ),
  automatic: withPlugins('plugin-apq', useAPQ()),
  batching: () => create({ batching: true }),
  defer: withPlugins('plugin-defer-stream', useDeferStream()),
  subscriptions: () => create(),
  graphiql: () => create(),
  uploads: () => create(),
}
