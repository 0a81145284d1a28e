import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findVerb, toVerbLines } from '../../src/cli/verbs.ts'

const verbs = {
  create: { synopsis: 'EMAIL [ROLE]', summary: 'Creates a user\nwith a role', takes: [1, 2] },
  count: { synopsis: '', summary: 'Counts users', takes: [0, 0] },
} as const

test('the help has each verb with its arguments, and its indented summary', () => {
  assert.equal(
    toVerbLines(verbs),
    '  create EMAIL [ROLE]\n      Creates a user\n      with a role\n  count\n      Counts users',
  )
})

test('the first argument names the verb, and the others are its operands', () => {
  assert.deepEqual(findVerb(verbs, ['create', 'ada@site.example']), {
    name: 'create',
    verb: verbs.create,
    positionals: ['ada@site.example'],
  })
})

test('a missing or unknown verb is reported with the known ones', () => {
  assert.equal(findVerb(verbs, []), 'The verb is missing. Verbs: create, count.')
  assert.equal(findVerb(verbs, ['toString']), 'Unknown verb "toString". Verbs: create, count.')
})

test('too few and too many arguments are reported', () => {
  const fault = 'Wrong number of arguments. Usage: create EMAIL [ROLE]'
  assert.equal(findVerb(verbs, ['create']), fault)
  assert.equal(findVerb(verbs, ['create', 'a', 'b', 'c']), fault)
})
