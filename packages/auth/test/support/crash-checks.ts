import assert from 'node:assert/strict'
import { type Person, type PersonSession, refresh } from './crash-people.ts'
import { serviceToken } from './crash-server.ts'
import { send } from './http-client.ts'

/**
 * Checks that everything acknowledged has been stored, and records the outcome of unacknowledged
 * requests.
 */
export async function checkPerson(url: string, person: Person): Promise<number> {
  if (person.id === undefined) {
    // The sign-up was never acknowledged, so the next attempt uses another address.
    return 0
  }
  const found = await send(url, `/admin/users/${person.id}`, { token: serviceToken })
  assert.ok(found.status === 200 || found.status === 404, JSON.stringify(found.body))
  const isThere = found.status === 200 ? 'yes' : 'no'
  if (person.isThere === 'maybe') person.isThere = isThere
  assert.equal(isThere, person.isThere, `${person.email} is there`)
  if (isThere === 'no') {
    if (person.session) await checkEnded(url, person.session)
    return 1
  }
  assert.equal(found.body.email, person.email)
  await checkPasswords(url, person)
  return person.session === undefined ? 2 : 2 + (await checkSession(url, person.session))
}

/**
 * Exactly one password works: the last acknowledged one, or the one of an unacknowledged change.
 */
async function checkPasswords(url: string, person: Person): Promise<void> {
  const working: string[] = []
  for (const password of person.passwords) {
    const body = { email: person.email, password }
    const { status, body: answer } = await send(url, '/token?grant_type=password', { body })
    // With a correct password, the error says that the address is not confirmed.
    if (status === 200 || answer.error_code === 'email_not_confirmed') working.push(password)
    else assert.deepEqual([status, answer.error_code], [400, 'invalid_credentials'])
  }
  assert.equal(working.length, 1, `${working.length} passwords of ${person.email} work`)
  person.passwords = working
}

/**
 * The acknowledged token can be rotated once, whether or not an unacknowledged rotation was stored.
 */
async function checkSession(url: string, session: PersonSession): Promise<number> {
  const first = await refresh(url, session.refreshToken)
  if (session.isOpen === 'maybe') session.isOpen = first.status === 200 ? 'yes' : 'no'
  if (session.isOpen === 'no') {
    assert.equal(first.status, 400, JSON.stringify(first.body))
    return 1
  }
  assert.equal(first.status, 200, JSON.stringify(first.body))
  const again = await refresh(url, session.refreshToken)
  assert.equal(again.status, 200, JSON.stringify(again.body))
  assert.equal(again.body.refresh_token, first.body.refresh_token, 'one child')
  const { parent } = session
  session.parent = session.refreshToken
  session.refreshToken = first.body.refresh_token
  session.accessToken = first.body.access_token
  if (parent === undefined) return 2
  // A token two generations old counts as stolen and ends the session.
  const stolen = await refresh(url, parent)
  assert.deepEqual([stolen.status, stolen.body.error_code], [400, 'refresh_token_already_used'])
  session.isOpen = 'no'
  await checkEnded(url, session)
  return 4
}

async function checkEnded(url: string, session: PersonSession): Promise<void> {
  const { status, body } = await refresh(url, session.refreshToken)
  assert.deepEqual([status, body.error_code], [400, 'session_not_found'])
  session.isOpen = 'no'
}
