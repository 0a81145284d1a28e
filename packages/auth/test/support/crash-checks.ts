import assert from 'node:assert/strict'
import { type Person, type PersonSession, refresh } from './crash-people.ts'
import { serviceToken } from './crash-server.ts'
import { ask } from './http-client.ts'

/** Whether everything acknowledged is so. What was not answered becomes what is found. */
export async function checkPerson(url: string, person: Person): Promise<number> {
  if (person.id === undefined) {
    // Its making was never answered: the next try takes another address.
    return 0
  }
  const asked = await ask(url, `/admin/users/${person.id}`, { token: serviceToken })
  assert.ok(asked.status === 200 || asked.status === 404, JSON.stringify(asked.body))
  const isThere = asked.status === 200 ? 'yes' : 'no'
  if (person.isThere === 'maybe') person.isThere = isThere
  assert.equal(isThere, person.isThere, `${person.email} is there`)
  if (isThere === 'no') {
    if (person.session) await checkEnded(url, person.session)
    return 1
  }
  assert.equal(asked.body.email, person.email)
  await checkPasswords(url, person)
  return person.session === undefined ? 2 : 2 + (await checkSession(url, person.session))
}

/** Exactly one works: the last that was acknowledged, unless the next was on its way. */
async function checkPasswords(url: string, person: Person): Promise<void> {
  const working: string[] = []
  for (const password of person.passwords) {
    const body = { email: person.email, password }
    const { status, body: answer } = await ask(url, '/token?grant_type=password', { body })
    // Who knows the password learns that the address is not confirmed.
    if (status === 200 || answer.error_code === 'email_not_confirmed') working.push(password)
    else assert.deepEqual([status, answer.error_code], [400, 'invalid_credentials'])
  }
  assert.equal(working.length, 1, `${working.length} passwords of ${person.email} work`)
  person.passwords = working
}

/** The token that was acknowledged rotates once, whether a rotation was on its way or not. */
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
  // Two generations old: whoever shows it has stolen it, and the session ends.
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
