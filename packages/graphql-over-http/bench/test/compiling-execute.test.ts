import assert from 'node:assert/strict'
import test from 'node:test'
import { buildSchema, type DocumentNode, type GraphQLSchema, parse } from 'graphql'
import { createCompilingExecute } from '../compiling-execute.ts'

const schema = buildSchema('type Query { hello: String }')
const rootValue = { hello: 'executed' }

function countingCompiler() {
  const calls: (string | undefined)[] = []
  const compileQuery = (_schema: GraphQLSchema, _document: DocumentNode, name?: string) => {
    calls.push(name)
    return { query: () => ({ data: { hello: `compiled ${name ?? 'without a name'}` } }) }
  }
  return { calls, compileQuery }
}

test('an operation is compiled once, after enough uses', async () => {
  const { calls, compileQuery } = countingCompiler()
  const execute = createCompilingExecute(compileQuery, 3)
  const document = parse('{ hello }')
  const answers = []
  for (let use = 1; use <= 5; use++) {
    answers.push((await execute({ schema, document, rootValue })).data?.['hello'])
  }
  assert.deepEqual(answers, [
    'executed',
    'executed',
    'compiled without a name',
    'compiled without a name',
    'compiled without a name',
  ])
  assert.deepEqual(calls, [undefined])
})

test('the operations of one document are compiled separately', async () => {
  const { calls, compileQuery } = countingCompiler()
  const execute = createCompilingExecute(compileQuery, 1)
  const document = parse('query A { hello } query B { hello }')
  for (const operationName of ['A', 'B', 'A']) {
    const { data } = await execute({ schema, document, operationName })
    assert.equal(data?.['hello'], `compiled ${operationName}`)
  }
  assert.deepEqual(calls, ['A', 'B'])
})

test('an operation compiled for one schema is not run for another', async () => {
  const { calls, compileQuery } = countingCompiler()
  const execute = createCompilingExecute(compileQuery, 2)
  const document = parse('{ hello }')
  await execute({ schema, document })
  await execute({ schema, document })
  const other = buildSchema('type Query { hello: String }')
  const { data } = await execute({ schema: other, document, rootValue })
  assert.equal(data?.['hello'], 'executed')
  assert.equal(calls.length, 1)
})

const failures = {
  'returns errors': () => ({ errors: [] }),
  throws: () => {
    throw new Error('not supported')
  },
}
for (const [what, fail] of Object.entries(failures)) {
  test(`graphql-js executes when the compiler ${what}, and the compiler is called only once`, async (t) => {
    const compileQuery = t.mock.fn(fail)
    const execute = createCompilingExecute(compileQuery, 1)
    const document = parse('{ hello }')
    for (let use = 0; use < 3; use++) {
      const { data } = await execute({ schema, document, rootValue })
      assert.equal(data?.['hello'], 'executed')
    }
    assert.equal(compileQuery.mock.callCount(), 1)
  })
}
