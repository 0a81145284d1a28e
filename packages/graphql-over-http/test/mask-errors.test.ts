/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  GraphQLEnumType,
  GraphQLError,
  type GraphQLFieldConfig,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql'
import { createHandler } from '../src/handler.ts'
import { type MaskErrorsOptions, maskErrors } from '../src/mask-errors.ts'
import type { HandlerOptions } from '../src/options.ts'
import type { RequestParams } from '../src/request.ts'
import { GR, post, toAnswer } from './support/request.ts'

class NotFoundError extends Error {}

const field = (
  type: GraphQLOutputType,
  resolve: () => unknown,
  args: GraphQLFieldConfig<unknown, unknown>['args'] = {},
) => ({ type, resolve, args })
const throwing = (error: unknown) => () => {
  throw error
}

/** A scalar of an application that throws plain errors about its input. */
const Odd = new GraphQLScalarType({
  name: 'Odd',
  parseValue(value) {
    if (Number(value) % 2 === 0) throw new Error('must be odd')
    return value
  },
})
const Color = new GraphQLEnumType({ name: 'Color', values: { RED: { value: 'red' } } })

const query = new GraphQLObjectType({
  name: 'Query',
  fields: {
    database: field(GraphQLString, throwing(new Error('password: hunter2'))),
    later: field(GraphQLString, () => Promise.reject(new TypeError('hunter2'))),
    text: field(GraphQLString, throwing('hunter2')),
    none: field(new GraphQLNonNull(GraphQLString), () => null),
    number: field(GraphQLInt, () => 'hunter2'),
    color: field(Color, () => 'hunter2'),
    missing: field(GraphQLString, throwing(new NotFoundError('no such book'))),
    refused: field(
      GraphQLString,
      throwing(new GraphQLError('not yours', { extensions: { code: 'FORBIDDEN' } })),
    ),
    explained: field(
      GraphQLString,
      throwing(new GraphQLError('try later', { originalError: new Error('hunter2') })),
    ),
    named: field(
      GraphQLString,
      throwing(Object.assign(new Error('of another copy'), { name: 'GraphQLError' })),
    ),
    take: field(GraphQLString, () => 'taken', {
      n: { type: new GraphQLNonNull(GraphQLInt) },
      odd: { type: Odd },
    }),
  },
})
const schema = new GraphQLSchema({ query })

async function send(
  params: RequestParams,
  masking: MaskErrorsOptions = {},
  options: HandlerOptions = {},
) {
  const logged: [string, Error][] = []
  const formatError = maskErrors({
    createId: () => 'id-1',
    log: (error, id) => logged.push([id, error]),
    ...masking,
  })
  const handler = createHandler({ schema, ...options, formatError })
  const { json } = toAnswer(await handler(post(params, { accept: GR })))
  return { errors: Object(json).errors, logged }
}

const internal = { code: 'INTERNAL_SERVER_ERROR', id: 'id-1' }

describe('an unexpected error is masked and logged', () => {
  for (const [what, name, thrown] of [
    ['an error of a resolver', 'database', /password: hunter2/],
    ['a rejection', 'later', /TypeError: hunter2/],
    ['a thrown value that is not an error', 'text', /hunter2/],
    ['a null where the schema has none', 'none', /Cannot return null/],
    ['a value that its scalar cannot represent', 'number', /Int cannot represent/],
    ['a value that its enum does not have', 'color', /Enum "Color" cannot represent/],
  ] as const) {
    test(what, async () => {
      const { errors, logged } = await send({ query: `{ ${name} }` })
      assert.equal(errors.length, 1)
      const { locations, ...error } = errors[0]
      assert.deepEqual(error, {
        message: 'Internal server error',
        path: [name],
        extensions: internal,
      })
      assert.equal(logged.length, 1)
      assert.equal(logged[0]?.[0], 'id-1')
      assert.match(String(logged[0]?.[1]), thrown)
    })
  }

  test('a mistake in parseRequestParams', async () => {
    const parseRequestParams = () => {
      throw new TypeError("Cannot read properties of undefined (reading 'hunter2')")
    }
    const { errors, logged } = await send({ query: '{ take }' }, {}, { parseRequestParams })
    assert.deepEqual(errors, [{ message: 'Internal server error', extensions: internal }])
    assert.match(String(logged[0]?.[1]), /hunter2/)
  })
})

describe('an error that is meant for the client passes and is not logged', () => {
  for (const [what, params, message] of [
    ['a GraphQLError', { query: '{ refused }' }, /^not yours$/],
    ['a GraphQLError with a cause', { query: '{ explained }' }, /^try later$/],
    ['a GraphQLError of another copy of graphql', { query: '{ named }' }, /^of another copy$/],
    ['a syntax error', { query: '{' }, /^Syntax Error/],
    ['a validation error', { query: '{ nope }' }, /nope/],
    ['a literal of the wrong type', { query: '{ take(n: "x") }' }, /Int cannot represent/],
    ['a literal that a custom scalar refuses', { query: '{ take(n: 1, odd: 2) }' }, /must be odd/],
    [
      'a variable of the wrong type',
      { query: 'query ($n: Int!) { take(n: $n) }', variables: { n: 'x' } },
      /Int cannot represent/,
    ],
    [
      'a variable that a custom scalar refuses',
      { query: 'query ($odd: Odd) { take(n: 1, odd: $odd) }', variables: { odd: 2 } },
      /must be odd/,
    ],
    [
      'a variable that is null where an argument is required',
      { query: 'query ($n: Int = 5) { take(n: $n) }', variables: { n: null } },
      /null/,
    ],
    ['an unknown operation', { query: '{ take(n: 1) }', operationName: 'nope' }, /operation/],
  ] as const) {
    test(what, async () => {
      const { errors, logged } = await send(params)
      assert.equal(errors.length, 1)
      assert.match(errors[0].message, message)
      assert.deepEqual(logged, [])
    })
  }

  test('with its extensions', async () => {
    const { errors } = await send({ query: '{ refused }' })
    assert.deepEqual(errors[0].extensions, { code: 'FORBIDDEN' })
  })

  test('a refusal of parseRequestParams', async () => {
    const parseRequestParams = () => {
      throw new Error('send one request at a time')
    }
    const { errors, logged } = await send({ query: '{ take }' }, {}, { parseRequestParams })
    assert.deepEqual(errors, [{ message: 'send one request at a time' }])
    assert.deepEqual(logged, [])
  })

  test('one that isIntended accepts', async () => {
    const isIntended = (error: Error) => error instanceof NotFoundError
    const { errors, logged } = await send({ query: '{ missing database }' }, { isIntended })
    assert.deepEqual(
      errors.map(({ message }: Error) => message),
      ['no such book', 'Internal server error'],
    )
    assert.equal(logged.length, 1)
  })
})

test('the message is an option, and each error has its own id', async () => {
  const ids: string[] = []
  const handler = createHandler({
    schema,
    formatError: maskErrors({ message: 'Oops', log: (_, id) => ids.push(id) }),
  })
  const { json } = toAnswer(await handler(post({ query: '{ database later }' }, { accept: GR })))
  const { errors } = Object(json)
  assert.deepEqual(new Set(errors.map(({ message }: Error) => message)), new Set(['Oops']))
  const sent = errors.map((error: GraphQLError) => error.extensions['id'])
  assert.deepEqual(sent, ids)
  assert.equal(new Set(ids).size, 2)
})

test('without options the error is written to the console with its id', async (t) => {
  const written = t.mock.method(console, 'error', () => {})
  const handler = createHandler({ schema, formatError: maskErrors() })
  const { json } = toAnswer(await handler(post({ query: '{ database }' }, { accept: GR })))
  const { id } = Object(json).errors[0].extensions
  const [line, error] = written.mock.calls[0]?.arguments ?? []
  assert.equal(line, `Unexpected GraphQL error ${id}:`)
  assert.match(String(error), /hunter2/)
})

test('a wrong option is refused by name', () => {
  // @ts-expect-error The option does not exist.
  assert.throws(() => maskErrors({ logger: console.log }), {
    name: 'TypeError',
    message:
      'maskErrors: unknown option "logger"; the options are message, log, isIntended, createId',
  })
  // @ts-expect-error It is a function.
  assert.throws(() => maskErrors({ log: console }), {
    message: 'maskErrors: option "log" must be a function',
  })
})
