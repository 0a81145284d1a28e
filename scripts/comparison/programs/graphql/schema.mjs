import { GraphQLError, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'

const refuse = (error) => ({
  type: GraphQLString,
  resolve: () => {
    throw error
  },
})

const query = new GraphQLObjectType({
  name: 'Query',
  fields: {
    hello: { type: GraphQLString, resolve: () => 'world' },
    broken: refuse(new Error('password of the database: hunter2')),
    intended: refuse(new GraphQLError('There is no such order')),
  },
})

export const schema = new GraphQLSchema({ query })
