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

const castleType = new GraphQLObjectType<Castle>({
  name: 'Castle',
  fields: {
    name: { type: new GraphQLNonNull(GraphQLString) },
    country: { type: new GraphQLNonNull(GraphQLString) },
    built: { type: new GraphQLNonNull(GraphQLInt), description: 'The year it was begun in.' },
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
      castles: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(castleType))),
        description: 'The oldest first; of one country where one is named.',
        args: { country: { type: GraphQLString } },
        resolve: (_source, { country }: { readonly country?: string | null }) =>
          castles
            .filter((castle) => country == null || castle.country === country)
            .toSorted((one, other) => one.built - other.built),
      },
    },
  }),
})

/** Something to ask for, until there is data of your own. */
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
