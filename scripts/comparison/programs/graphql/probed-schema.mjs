import {
  GraphQLError,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql'

/** What the resolvers recorded. */
export const noticed = { mutations: 0, aborts: 0 }

const refuse = (error) => ({
  type: GraphQLString,
  resolve: () => {
    throw error
  },
})

/** Waits for the abort signal, which the program of each library puts in the context. */
const slow = {
  type: GraphQLString,
  resolve: (_source, _args, { signal }) =>
    new Promise((resolve) => {
      signal?.addEventListener('abort', () => {
        noticed.aborts++
        resolve('aborted')
      })
      setTimeout(resolve, 3000, 'slow').unref()
    }),
}

const query = new GraphQLObjectType({
  name: 'Query',
  fields: () => ({
    hello: { type: GraphQLString, resolve: () => 'world' },
    nested: { type: query, resolve: () => ({}) },
    broken: refuse(new Error('password of the database: hunter2')),
    intended: refuse(new GraphQLError('There is no such order')),
    slow,
  }),
})

const mutation = new GraphQLObjectType({
  name: 'Mutation',
  fields: {
    change: {
      type: GraphQLString,
      resolve: () => {
        noticed.mutations++
        return 'changed'
      },
    },
    upload: {
      type: GraphQLString,
      args: { file: { type: new GraphQLNonNull(new GraphQLScalarType({ name: 'File' })) } },
      resolve: (_source, { file }) => file.text(),
    },
  },
})

async function* tick() {
  yield { tick: 'one' }
  yield { tick: 'two' }
}

const subscription = new GraphQLObjectType({
  name: 'Subscription',
  fields: { tick: { type: GraphQLString, subscribe: tick } },
})

export const schema = new GraphQLSchema({ query, mutation, subscription })
