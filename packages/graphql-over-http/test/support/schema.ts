import {
  type GraphQLFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql'

const fail = (): never => {
  throw new Error('The resolver failed')
}

/** Any JSON value as input and output; by default a scalar does not change values. */
const json = new GraphQLScalarType({ name: 'JSON' })

const filter: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'Filter',
  fields: () => ({ text: { type: GraphQLString }, and: { type: filter } }),
})

const query: GraphQLObjectType = new GraphQLObjectType({
  name: 'Query',
  fields: (): GraphQLFieldConfigMap<unknown, unknown> => ({
    hello: { type: new GraphQLNonNull(GraphQLString), resolve: () => 'world' },
    greet: {
      type: GraphQLString,
      args: { name: { type: GraphQLString } },
      resolve: (_, { name }) => `Hello ${name ?? 'you'}`,
    },
    double: {
      type: GraphQLInt,
      args: { number: { type: new GraphQLNonNull(GraphQLInt) } },
      resolve: (_, { number }) => number * 2,
    },
    echo: { type: json, args: { value: { type: json } }, resolve: (_, { value }) => value },
    find: { type: GraphQLString, args: { filter: { type: filter } }, resolve: () => 'found' },
    context: { type: json, resolve: (_, __, context) => context ?? null },
    rootValue: { type: json, resolve: (root) => root ?? null },
    later: { type: GraphQLString, resolve: async () => 'at last' },
    self: { type: query, resolve: () => ({}) },
    fail: { type: GraphQLString, resolve: fail },
    failRequired: { type: new GraphQLNonNull(GraphQLString), resolve: fail },
  }),
})

/**
 * A schema with one field for each case that a handler must deal with. The mutation `bump` calls
 * `onMutation`, so that a test can detect whether it ran.
 */
export function createTestSchema(onMutation: () => void = () => undefined): GraphQLSchema {
  let bumped = 0
  return new GraphQLSchema({
    query,
    mutation: new GraphQLObjectType({
      name: 'Mutation',
      fields: {
        bump: {
          type: GraphQLInt,
          resolve: () => {
            onMutation()
            bumped += 1
            return bumped
          },
        },
      },
    }),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: { ticks: { type: GraphQLInt } },
    }),
  })
}

export const schema: GraphQLSchema = createTestSchema()
