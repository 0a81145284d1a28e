import type { AccessTokenClaims } from '@portcullis/auth/verify'
import { buildSchema, GraphQLError } from 'graphql'

interface Context {
  /** The claims of the access token; undefined for anonymous callers. */
  readonly user: AccessTokenClaims | undefined
}

export const schema = buildSchema(`
  type Query {
    "The email address of the signed-in user; null for anonymous callers."
    me: String
    "The notes of the signed-in user."
    notes: [String!]!
  }
  type Mutation {
    "Returns the number of notes."
    addNote(text: String!): Int!
  }
`)

/** Notes by user id. Replace this with your database. */
const notes = new Map<string, string[]>()

export const rootValue = {
  me: (_: unknown, { user }: Context) => user?.email,

  // The key comes from the verified token, never from an argument: users see only their own notes.
  notes: (_: unknown, context: Context) => notes.get(requireUserId(context)) ?? [],

  addNote: ({ text }: { readonly text: string }, context: Context) => {
    const userId = requireUserId(context)
    const all = [...(notes.get(userId) ?? []), text]
    notes.set(userId, all)
    return all.length
  },
}

function requireUserId({ user }: Context): string {
  if (user !== undefined) return user.sub
  throw new GraphQLError('Sign in to use notes.', { extensions: { code: 'UNAUTHENTICATED' } })
}
