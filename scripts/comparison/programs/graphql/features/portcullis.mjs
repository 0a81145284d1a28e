import { readFileSync } from 'node:fs'
import { createClient } from '@portcullis/graphql-over-http/client'
import { maskErrors } from '@portcullis/graphql-over-http/mask-errors'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { missing } from '../../feature-values.mjs'
import { schema } from '../probed-schema.mjs'

const create = (options) => createHandler({ schema, ...options })

const manifest = new URL(
  '../../node_modules/@portcullis/graphql-over-http/package.json',
  import.meta.url,
)

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
  masked: () => create({ formatError: maskErrors({ log: () => {} }) }),
  bodyLimit: () => create(),
  maxTokens: () => create({ maxTokens: 1000 }),
  maxDepth: () => create({ maxDepth: 5 }),
  maxAliases: () => create({ maxAliases: 5 }),
  csrf: () => create(),
  abort: () => create({ context: ({ signal }) => ({ signal }) }),
  persisted: (documents) =>
    create({ persistedDocument: (_request, { documentId }) => documents[documentId ?? ''] }),
  automatic: missing(/automatic/i),
  batching: missing(/batch/i),
  defer: missing(/\bdefer\b|multipart/i),
  subscriptions: missing(/event-stream|EventSource/i),
  graphiql: missing(/graphiql|playground/i),
  uploads: missing(/upload|multipart/i),
}
