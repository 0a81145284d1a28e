import { GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import type { User } from './identify.ts'

/** What the API hands to its resolvers. */
export interface Context {
  readonly user: User | undefined
}

const userType = new GraphQLObjectType<User>({
  name: 'User',
  fields: {
    id: { type: new GraphQLNonNull(GraphQLString) },
    email: { type: GraphQLString },
  },
})

export const schema = new GraphQLSchema({
  query: new GraphQLObjectType<unknown, Context>({
    name: 'Query',
    fields: {
      hello: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'For everybody.',
        resolve: (_source, _args, { user }) => `Hello, ${user?.email ?? 'stranger'}!`,
      },
      me: {
        type: userType,
        description: 'Who is asking; null when they are not signed in.',
        resolve: (_source, _args, { user }) => user,
      },
    },
  }),
})
