import {
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql'

export interface User {
  readonly id: string
  readonly email: string | undefined
}

/** The context value that the API passes to its resolvers. */
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

const castleType = new GraphQLObjectType<Castle>({
  name: 'Castle',
  fields: {
    name: { type: new GraphQLNonNull(GraphQLString) },
    country: { type: new GraphQLNonNull(GraphQLString) },
    built: {
      type: new GraphQLNonNull(GraphQLInt),
      description: 'The year in which construction began.',
    },
  },
})

export const schema = new GraphQLSchema({
  query: new GraphQLObjectType<unknown, Context>({
    name: 'Query',
    fields: {
      hello: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'A greeting for any caller, signed in or not.',
        resolve: (_source, _args, { user }) => `Hello, ${user?.email ?? 'stranger'}!`,
      },
      me: {
        type: userType,
        description: 'The signed-in user; null for anonymous callers.',
        resolve: (_source, _args, { user }) => user,
      },
      castles: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(castleType))),
        description: 'Castles ordered by year, oldest first; optionally of one country only.',
        args: { country: { type: GraphQLString } },
        resolve: (_source, { country }: { readonly country?: string | null }) =>
          castles
            .filter((castle) => country == null || castle.country === country)
            .toSorted((one, other) => one.built - other.built),
      },
    },
  }),
})

/** Sample data, to be replaced by your own. */
interface Castle {
  readonly name: string
  readonly country: string
  readonly built: number
}

const castles: readonly Castle[] = [
  { name: 'Bodiam', country: 'England', built: 1385 },
  { name: 'Bunratty', country: 'Ireland', built: 1425 },
  { name: 'Caerphilly', country: 'Wales', built: 1268 },
  { name: 'Carcassonne', country: 'France', built: 1130 },
  { name: 'Conwy', country: 'Wales', built: 1283 },
  { name: 'Eltz', country: 'Germany', built: 1157 },
  { name: 'Harlech', country: 'Wales', built: 1282 },
  { name: 'Malbork', country: 'Poland', built: 1274 },
]
