import assert from 'node:assert/strict'
import { serviceToken } from './crash-server.ts'
import { type HttpAnswer, newEmail, password, send } from './http-client.ts'
import type { Random } from './random.ts'

/** The state of something that a request should change: `maybe` until the response arrives. */
export type Known = 'yes' | 'no' | 'maybe'

export interface PersonSession {
  accessToken: string
  /** The last acknowledged token. */
  refreshToken: string
  /** The token before it. */
  parent: string | undefined
  isOpen: Known
}

/** A user and everything that the server has acknowledged about them. */
export interface Person {
  readonly email: string
  /** Undefined while the sign-up is not acknowledged. */
  id: string | undefined
  isThere: Known
  /** The last acknowledged password, and one from an unacknowledged change. */
  passwords: string[]
  session: PersonSession | undefined
  isMailed: boolean
  /** Whether something has changed since the last check. */
  isDirty: boolean
}

/** Returns whether the server has acknowledged the operation. Throws if there is no response. */
type Operation = (url: string, person: Person) => Promise<boolean>

interface Choice {
  /** The relative frequency of the operation. */
  readonly weight: number
  readonly isFor: (person: Person) => boolean
  readonly run: Operation
}

let passwordsMade = 0
const isNew = ({ isThere, id }: Person) => isThere === 'no' && id === undefined
const isIn = ({ isThere, session }: Person) => isThere === 'yes' && session?.isOpen === 'yes'
const isConfirmed = ({ isThere, isMailed }: Person) => isThere === 'yes' && !isMailed

/** Each operation first records what may become true, and then what was acknowledged. */
export const operations: Readonly<Record<string, Choice>> = {
  'sign up': {
    weight: 3,
    isFor: isNew,
    async run(url, person) {
      person.isThere = 'maybe'
      const body = { email: person.email, password }
      const answer = await expect(200, send(url, '/signup', { body }))
      const isSignedIn = answer.body.access_token !== undefined
      person.id = isSignedIn ? answer.body.user.id : answer.body.id
      person.isThere = 'yes'
      person.isMailed = !isSignedIn
      if (isSignedIn) person.session = toSession(answer)
      return true
    },
  },
  'be created': {
    weight: 2,
    isFor: isNew,
    async run(url, person) {
      person.isThere = 'maybe'
      const body = { email: person.email, password, email_confirm: true }
      const answer = await expect(200, send(url, '/admin/users', { body, token: serviceToken }))
      person.id = answer.body.id
      person.isThere = 'yes'
      return true
    },
  },
  'log in': {
    weight: 3,
    isFor: (person) => isConfirmed(person) && person.session?.isOpen !== 'yes',
    async run(url, person) {
      const body = { email: person.email, password: person.passwords[0] }
      const answer = await expect(200, send(url, '/token?grant_type=password', { body }))
      person.session = toSession(answer)
      return true
    },
  },
  refresh: {
    weight: 12,
    isFor: isIn,
    async run(url, { session }) {
      if (session === undefined) return false
      const answer = await expect(200, refresh(url, session.refreshToken))
      session.parent = session.refreshToken
      session.refreshToken = answer.body.refresh_token
      session.accessToken = answer.body.access_token
      return true
    },
  },
  'change the password': {
    weight: 3,
    isFor: isIn,
    async run(url, person) {
      const next = `${password} ${++passwordsMade}`
      person.passwords.push(next)
      const body = { password: next }
      const token = person.session?.accessToken ?? ''
      await expect(200, send(url, '/user', { method: 'PUT', body, token }))
      person.passwords = [next]
      return true
    },
  },
  'log out': {
    weight: 1,
    isFor: isIn,
    async run(url, { session }) {
      if (session === undefined) return false
      session.isOpen = 'maybe'
      const { accessToken: token } = session
      await expect(204, send(url, '/logout?scope=local', { method: 'POST', token }))
      session.isOpen = 'no'
      return true
    },
  },
  'be deleted': {
    weight: 1,
    isFor: ({ isThere, isMailed }) => isThere === 'yes' && !isMailed,
    async run(url, person) {
      person.isThere = 'maybe'
      const path = `/admin/users/${person.id}`
      await expect(200, send(url, path, { method: 'DELETE', token: serviceToken }))
      person.isThere = 'no'
      return true
    },
  },
}

export function newPerson(): Person {
  return {
    email: newEmail(),
    id: undefined,
    isThere: 'no',
    passwords: [password],
    session: undefined,
    isMailed: false,
    isDirty: false,
  }
}

export function pickOperation(person: Person, random: Random): [string, Choice] | undefined {
  const possible = Object.entries(operations).filter(([, { isFor }]) => isFor(person))
  let left = random() * possible.reduce((sum, [, { weight }]) => sum + weight, 0)
  for (const choice of possible) {
    left -= choice[1].weight
    if (left < 0) return choice
  }
  return undefined
}

export function refresh(url: string, refreshToken: string): Promise<HttpAnswer> {
  return send(url, '/token?grant_type=refresh_token', { body: { refresh_token: refreshToken } })
}

/** A request may fail only without a response; a response must be the expected one. */
async function expect(status: number, pending: Promise<HttpAnswer>): Promise<HttpAnswer> {
  const answer = await pending
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  return answer
}

function toSession({ body }: HttpAnswer): PersonSession {
  const { access_token: accessToken, refresh_token: refreshToken } = body
  return { accessToken, refreshToken, parent: undefined, isOpen: 'yes' }
}
