import { GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'

/** The context of the authentication examples; the other examples have none. */
interface Context {
  readonly userId: string
}

/** The schema that all examples serve. */
export const schema = new GraphQLSchema({
  query: new GraphQLObjectType<unknown, Context | undefined>({
    name: 'Query',
    fields: {
      hello: {
        type: new GraphQLNonNull(GraphQLString),
        args: { name: { type: GraphQLString, defaultValue: 'world' } },
        resolve: (_source, { name }) => `Hello, ${name}!`,
      },
      viewer: {
        type: GraphQLString,
        description: 'The signed-in user; null if the example does not authenticate requests.',
        resolve: (_source, _args, context) => context?.userId,
      },
    },
  }),
  mutation: new GraphQLObjectType({
    name: 'Mutation',
    fields: {
      shout: {
        type: new GraphQLNonNull(GraphQLString),
        args: { text: { type: new GraphQLNonNull(GraphQLString) } },
        resolve: (_source, { text }) => text.toUpperCase(),
      },
    },
  }),
})
