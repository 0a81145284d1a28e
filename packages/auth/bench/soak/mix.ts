import { clientHeader, get, logIn, post, refresh, signUp } from '../load/requests.ts'
import type { Response } from '../load/response-reader.ts'

/** The user of a connection. */
export interface LoadUser {
  readonly client: number
  readonly email: string
  readonly accessToken: string
  readonly serviceToken: string
  /** The current refresh token. */
  refreshToken: string
}

interface Kind {
  /** The number of these requests in a hundred. */
  readonly share: number
  /** Whether the request hashes a password, which is slow by design. */
  readonly hashesPassword?: true
  /** @param unique a number that no other request of the run has */
  toRequest(user: LoadUser, unique: number): string
  /** Stores values from the response. Returns false if the response is wrong. */
  take?(user: LoadUser, response: Response): boolean
}

/** Common requests of users and applications. Change the mix here. */
export const kinds = {
  'GET /user': {
    share: 45,
    toRequest: ({ accessToken, client }) => get('/user', accessToken, client),
  },
  refresh: {
    share: 25,
    toRequest: ({ refreshToken, client }) => refresh(refreshToken, client),
    take(user, { body }) {
      const [, child] = /"refresh_token":\s*"([^"]+)"/.exec(body) ?? []
      user.refreshToken = child ?? user.refreshToken
      return child !== undefined
    },
  },
  'PUT /user': {
    share: 10,
    toRequest: ({ accessToken, client }, unique) =>
      put('/user', { data: { visits: unique } }, accessToken, client),
  },
  'password login': {
    share: 8,
    hashesPassword: true,
    toRequest: ({ email, client }) => logIn(email, client),
  },
  otp: {
    share: 6,
    toRequest: ({ email, client }) => post('/otp', { email }, client),
  },
  'admin list': {
    share: 4,
    toRequest: ({ serviceToken, client }) => get('/admin/users?per_page=50', serviceToken, client),
  },
  'sign-up': {
    share: 2,
    hashesPassword: true,
    toRequest: ({ client }, unique) => signUp(`soak-${unique}@bench.example`, client),
  },
} as const satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof kinds
export const kindNames = Object.keys(kinds) as readonly KindName[]

export const kindOf = (name: KindName): Kind => kinds[name]

/** A hundred requests with every kind spread as evenly as possible. */
export const round: readonly KindName[] = kindNames
  .flatMap((name) =>
    Array.from({ length: kindOf(name).share }, (_, at) => ({
      name,
      place: (at + 0.5) / kindOf(name).share,
    })),
  )
  .toSorted((a, b) => a.place - b.place)
  .map(({ name }) => name)

function put(path: string, body: object, accessToken: string, client: number): string {
  const text = JSON.stringify(body)
  return (
    `PUT ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${clientHeader}: ${client}\r\n` +
    `authorization: Bearer ${accessToken}\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  )
}
