import { GraphQLID, GraphQLList, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { users } from './queries.ts'

const Post = new GraphQLObjectType({
  name: 'Post',
  fields: { id: { type: GraphQLID }, title: { type: GraphQLString } },
})

const User = new GraphQLObjectType({
  name: 'User',
  fields: {
    id: { type: GraphQLID },
    name: { type: GraphQLString },
    email: { type: GraphQLString },
    posts: { type: new GraphQLList(Post) },
  },
})

/**
 * The schema of every contender. Its resolvers are synchronous, so that mostly the servers' own
 * work is measured.
 */
export const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      hello: { type: GraphQLString, resolve: () => 'world' },
      users: { type: new GraphQLList(User), resolve: () => users },
    },
  }),
})
