import { clientHeader, get, logIn, post, refresh, signUp } from '../load/requests.ts'
import type { Response } from '../load/response-reader.ts'

/** Whom a connection speaks for. */
export interface Speaker {
  readonly client: number
  readonly email: string
  readonly accessToken: string
  readonly serviceToken: string
  /** As the last refresh left it. */
  refreshToken: string
}

interface Kind {
  /** Out of a hundred requests. */
  readonly share: number
  /** Takes its time by design. */
  readonly hashesPassword?: true
  /** @param unique no other request of a run has this number. */
  toRequest(speaker: Speaker, unique: number): string
  /** What the answer leaves behind. False: it is not what it should be. */
  take?(speaker: Speaker, response: Response): boolean
}

/** What people and applications ask for all day. The one place to change the mix. */
export const kinds = {
  'GET /user': {
    share: 45,
    toRequest: ({ accessToken, client }) => get('/user', accessToken, client),
  },
  refresh: {
    share: 25,
    toRequest: ({ refreshToken, client }) => refresh(refreshToken, client),
    take(speaker, { body }) {
      const [, child] = /"refresh_token":\s*"([^"]+)"/.exec(body) ?? []
      speaker.refreshToken = child ?? speaker.refreshToken
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

/** A hundred requests in which every kind is spread as evenly as it can be. */
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
