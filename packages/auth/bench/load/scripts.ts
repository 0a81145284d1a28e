import type { LoadJob } from './job.ts'
import { get, logIn, refresh, signUp } from './requests.ts'
import type { Response } from './response-reader.ts'

/** The requests of the connections in a phase of load. */
export interface Script {
  /** Returns undefined if this connection has to wait for others. */
  next(connection: number): string | undefined
  /** Returns the error in a response, or undefined. */
  check(connection: number, response: Response): string | undefined
  /** The credentials for the next phase. */
  readonly credentials: readonly string[]
}

export type ScriptName = 'user' | 'refresh' | 'storm' | 'login' | 'signup' | 'list'

type JobParts = Pick<LoadJob, 'connections' | 'credentials' | 'path' | 'firstUnique'>

/** Add new kinds of load here. */
export const scripts: Readonly<Record<ScriptName, (job: JobParts) => Script>> = {
  user: ({ credentials }) =>
    repeat(credentials, (connection) => get('/user', pick(credentials, connection), connection)),

  list: ({ credentials, path = '' }) =>
    repeat(credentials, (connection) => get(path, pick(credentials, connection), connection)),

  login({ credentials }) {
    let turn = 0
    return repeat(credentials, (connection) => logIn(pick(credentials, turn++), connection))
  },

  signup({ credentials, firstUnique }) {
    let unique = firstUnique
    return repeat(credentials, (connection) => signUp(`new-${unique++}@bench.example`, connection))
  },

  /** Every connection has its own session and sends its latest token. */
  refresh({ credentials }) {
    const tokens = [...credentials]
    return {
      credentials: tokens,
      next: (connection) => refresh(pick(tokens, connection), connection),
      check(connection, response) {
        const child = readRefreshToken(response)
        if (child !== undefined) tokens[connection] = child
        return child === undefined ? describe(response) : undefined
      },
    }
  },

  /** All connections send one token at once and must get the same new token, which is sent next. */
  storm({ credentials, connections }) {
    const tokens = [pick(credentials, 0)]
    let sent = 0
    let received = 0
    let children = new Set<string>()
    return {
      credentials: tokens,
      next(connection) {
        if (sent === connections) return undefined
        sent++
        return refresh(pick(tokens, 0), connection)
      },
      check(_connection, response) {
        const child = readRefreshToken(response)
        if (child !== undefined) children.add(child)
        const isSecond = children.size > 1
        if (++received === connections) {
          tokens[0] = [...children][0] ?? pick(tokens, 0)
          children = new Set()
          sent = 0
          received = 0
        }
        if (child === undefined) return describe(response)
        return isSecond ? 'a token had two successors' : undefined
      },
    }
  },
}

function repeat(credentials: readonly string[], next: (connection: number) => string): Script {
  const check = (_: number, response: Response) =>
    response.status === 200 ? undefined : describe(response)
  return { next, check, credentials }
}

function readRefreshToken({ status, body }: Response): string | undefined {
  return status === 200 ? /"refresh_token":\s*"([^"]+)"/.exec(body)?.[1] : undefined
}

const describe = ({ status, body }: Response) => `${status} ${body.slice(0, 200)}`

const pick = (list: readonly string[], index: number) => list[index % list.length] ?? ''
