import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Queries } from '../../src/db/database.ts'
import { batch, object, statement, toPositional } from '../../src/db/statement.ts'

const findUser = statement('find_user', ['email', 'audience'], 'select $1, $2').returning<{
  readonly id: string
}>()
const addUser = statement('add_user', object<{ readonly email: string }>(), 'select $1::jsonb')
const readClock = statement('read_clock', 'select now()')

test('named values are mapped to parameters in their order', () => {
  const values = { audience: 'authenticated', email: 'a@example.com' }
  assert.deepEqual(toPositional(findUser, values), ['a@example.com', 'authenticated'])
})

test('an object is passed as the only parameter if the statement is defined so', () => {
  const user = { email: 'a@example.com' }
  assert.deepEqual(toPositional(addUser, user), [user])
})

test('the parameters of a batch are arrays, also for a single request', () => {
  const findCaller = statement('find_caller', batch(['userId', 'sessionId']), 'select …')
  const one = { userId: 'a', sessionId: null }
  const other = { userId: 'b', sessionId: 'c' }
  assert.deepEqual(toPositional(findCaller, [one, other]), [
    ['a', 'b'],
    [null, 'c'],
  ])
  assert.deepEqual(toPositional(findCaller, one), [['a'], [null]])
})

test('a statement without parameters has no values', () => {
  assert.deepEqual(toPositional(readClock), [])
})

test('the type checker knows the names of the values and the columns of the rows', async () => {
  const queries = { run: async () => [{ id: 'a' }] as never } satisfies Queries as Queries
  const [user] = await queries.run(findUser, { email: 'a@example.com', audience: '' })
  const id: string | undefined = user?.id
  assert.equal(id, 'a')
  // @ts-expect-error -- A value is missing.
  await queries.run(findUser, { email: 'a@example.com' })
  // @ts-expect-error -- The statement has no value with this name.
  await queries.run(findUser, { email: 'a@example.com', audience: '', phone: '' })
  // @ts-expect-error -- The object has another shape.
  await queries.run(addUser, { phone: '' })
})
