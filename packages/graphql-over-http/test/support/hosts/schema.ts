import { GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'

/** Two, three and four bytes per character in UTF-8. */
export const manyBytes = 'ž ☃ 🏃'

/**
 * Served by every host under test. Other runtimes load it too, so it depends on nothing but
 * graphql.
 */
export const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      hello: { type: GraphQLString, resolve: () => 'world' },
      manyBytes: { type: GraphQLString, resolve: () => manyBytes },
      echo: {
        type: GraphQLString,
        args: { text: { type: GraphQLString } },
        resolve: (_source, { text }) => text,
      },
      slow: {
        type: GraphQLString,
        args: { ms: { type: GraphQLInt } },
        resolve: async (_source, { ms }) => {
          await new Promise((resolve) => setTimeout(resolve, ms))
          return 'done'
        },
      },
    },
  }),
  mutation: new GraphQLObjectType({
    name: 'Mutation',
    fields: { bump: { type: GraphQLInt, resolve: () => 1 } },
  }),
})
