import { ApolloServer } from '@apollo/server'
import { unwrapResolverError } from '@apollo/server/errors'
import { startStandaloneServer } from '@apollo/server/standalone'
import { GraphQLError } from 'graphql'
import { schema } from '../schema.mjs'

const server = new ApolloServer({
  schema,
  formatError(formatted, error) {
    const original = unwrapResolverError(error)
    if (!formatted.path || original instanceof GraphQLError) return formatted
    console.error(original)
    return { message: 'Internal server error', path: formatted.path }
  },
})

await startStandaloneServer(server, { listen: { port: Number(process.env.PORT) } })
