/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { execute, GraphQLError, getOperationAST, parse, specifiedRules, validate } from 'graphql'
import { createHandler } from '../src/handler.ts'
import type { HandlerOptions } from '../src/options.ts'
import type { Response } from '../src/request.ts'
import { GR, get, J, post, toAnswer } from './support/request.ts'
import { schema } from './support/schema.ts'

const HELLO = { query: '{ hello }' }

/** The hooks in the order in which they run, with the number of their arguments. */
const HOOKS = [
  ['parseRequestParams', 1],
  ['onSubscribe', 2],
  ['parse', 1],
  ['context', 2],
  ['schema', 2],
  ['validationRules', 3],
  ['validate', 3],
  ['getOperationAST', 2],
  ['execute', 1],
  ['onOperation', 3],
] as const

type Hook = (typeof HOOKS)[number][0]
type Call = readonly [name: string, argumentCount: number]

/** Options that each do their work and record that they were called. */
function recordCalls(calls: Call[]): HandlerOptions {
  const record = (name: string, args: readonly unknown[]) => {
    calls.push([name, args.length])
  }
  return {
    parseRequestParams: (...args) => record('parseRequestParams', args),
    onSubscribe: (...args) => record('onSubscribe', args),
    parse: (...args) => {
      record('parse', args)
      return parse(...args)
    },
    context: (...args) => {
      record('context', args)
      return undefined
    },
    schema: (...args) => {
      record('schema', args)
      return schema
    },
    validationRules: (...args) => {
      record('validationRules', args)
      return args[2]
    },
    validate: (...args) => {
      record('validate', args)
      return validate(...args)
    },
    getOperationAST: (...args) => {
      record('getOperationAST', args)
      return getOperationAST(...args)
    },
    execute: (...args) => {
      record('execute', args)
      return execute(...args)
    },
    onOperation: (...args) => record('onOperation', args),
    formatError: (...args) => {
      record('formatError', args)
      return args[0]
    },
  }
}

test('each hook runs once, in the documented order, with its arguments', async () => {
  const calls: Call[] = []
  const handler = createHandler(recordCalls(calls))
  const answer = toAnswer(await handler(post(HELLO)))
  assert.deepEqual(answer.json, { data: { hello: 'world' } })
  assert.deepEqual(calls, HOOKS)
})

test('errors are formatted last', async () => {
  const calls: Call[] = []
  await createHandler(recordCalls(calls))(post({ query: '{ fail other: fail }' }))
  assert.deepEqual(calls, [...HOOKS, ['formatError', 1], ['formatError', 1]])
})

const PAIR: Response = ['ended here', { status: 418, statusText: 'Teapot', headers: { a: 'b' } }]

for (const name of ['parseRequestParams', 'onSubscribe', 'context', 'schema', 'onOperation']) {
  for (const [kind, end] of [
    ['at once', () => PAIR],
    ['later', async () => PAIR],
  ] as const) {
    test(`after a pair that ${name} returns ${kind}, no other hook runs`, async () => {
      const calls: Call[] = []
      const hook = (...args: readonly unknown[]) => {
        calls.push([name, args.length])
        return end()
      }
      const handler = createHandler({ ...recordCalls(calls), [name]: hook })
      assert.equal(await handler(post(HELLO)), PAIR)
      const position = HOOKS.findIndex(([hookName]) => hookName === name)
      assert.deepEqual(calls, HOOKS.slice(0, position + 1))
    })
  }
}

/** Requests that fail, and the last hook that runs for each. */
const STOPS: readonly (readonly [what: string, params: object, last: Hook])[] = [
  ['a document that does not parse', { query: '{' }, 'parse'],
  ['a document that is not valid', { query: '{ nope }' }, 'validate'],
  ['an operation that does not exist', { ...HELLO, operationName: 'A' }, 'getOperationAST'],
  ['a subscription', { query: 'subscription { ticks }' }, 'getOperationAST'],
  ['malformed parameters', { query: 1 }, 'parseRequestParams'],
]

for (const [what, params, last] of STOPS) {
  test(`${what} stops after ${last}`, async () => {
    const calls: Call[] = []
    await createHandler(recordCalls(calls))(post(params))
    const position = HOOKS.findIndex(([name]) => name === last)
    assert.deepEqual(calls, [...HOOKS.slice(0, position + 1), ['formatError', 1]])
  })
}

test('a mutation over GET stops after the operation is known, and is not formatted', async () => {
  const calls: Call[] = []
  await createHandler(recordCalls(calls))(get({ query: 'mutation { bump }' }))
  assert.deepEqual(calls, HOOKS.slice(0, 8))
})

test('no hook runs for a request that accepts no supported type', async () => {
  const calls: Call[] = []
  await createHandler(recordCalls(calls))(post(HELLO, { accept: 'text/html' }))
  assert.deepEqual(calls, [])
})

test('the custom parser runs for any method and content type', async () => {
  const handler = createHandler({ schema, parseRequestParams: () => HELLO })
  for (const method of ['PUT', 'QUERY', 'GET', 'HEAD']) {
    const req = { ...post(HELLO, { 'content-type': 'text/plain' }), method }
    assert.deepEqual(toAnswer(await handler(req)).json, { data: { hello: 'world' } })
  }
})

test('the parameters of a custom parser still cannot mutate over GET', async () => {
  const query = 'mutation { bump }'
  const handler = createHandler({ schema, parseRequestParams: async () => ({ query }) })
  assert.equal((await handler(get(HELLO)))[1].status, 405)
  assert.equal((await handler({ ...get(HELLO), method: 'PUT' }))[1].status, 200)
})

/** Content types that a page of another site can send without a preflight. */
const SIMPLE_TYPES = [
  undefined,
  '',
  'text/plain',
  'TEXT/PLAIN; charset=utf-8',
  'text/plain; application/json',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
]

test('a custom parser is not called for a POST that another site can send', async (t) => {
  const parseRequestParams = t.mock.fn(() => ({ query: 'mutation { bump }' }))
  const handler = createHandler({ schema, parseRequestParams })
  const send = async (type: string | undefined, more: Record<string, string> = {}) => {
    const headers = { ...(type === undefined ? {} : { 'content-type': type }), ...more }
    return (await handler({ ...post(HELLO), headers }))[1].status
  }
  for (const type of SIMPLE_TYPES) assert.equal(await send(type), 415, type)
  assert.equal(parseRequestParams.mock.callCount(), 0)

  for (const name of ['GraphQL-Require-Preflight', 'apollo-require-preflight']) {
    for (const type of SIMPLE_TYPES) assert.equal(await send(type, { [name]: '' }), 200, type)
  }
  for (const type of ['application/json', 'application/graphql', 'application/cbor']) {
    assert.equal(await send(type), 200, type)
  }
  const open = createHandler({ schema, parseRequestParams, csrfPrevention: false })
  const [, { status }] = await open({ ...post(HELLO), headers: { 'content-type': 'text/plain' } })
  assert.equal(status, 200)
})

test('the parameters of a custom parser cannot mutate over HEAD either', async () => {
  const handler = createHandler({
    schema,
    parseRequestParams: () => ({ query: 'mutation { bump }' }),
  })
  assert.equal((await handler({ ...get(HELLO), method: 'HEAD' }))[1].status, 405)
})

const LOCKED = new GraphQLError('Locked out', {
  extensions: { code: 'LOCKED', http: { status: 423, headers: { 'retry-after': '60' } } },
})

for (const option of ['context', 'schema', 'onSubscribe', 'onOperation', 'parseRequestParams']) {
  test(`a GraphQL error thrown in ${option} decides the status by extensions.http`, async () => {
    const lock = () => {
      throw LOCKED
    }
    const seen: unknown[] = []
    const formatError = (error: object) => {
      seen.push(error)
      return error
    }
    const handler = createHandler({ schema, [option]: lock, formatError })
    for (const accept of [GR, J]) {
      const [body, init] = await handler(post(HELLO, { accept }))
      assert.equal(init.status, 423)
      assert.equal(init.headers?.['content-type'], `${accept}; charset=utf-8`)
      assert.equal(init.headers?.['retry-after'], '60')
      assert.equal(body, '{"errors":[{"message":"Locked out","extensions":{"code":"LOCKED"}}]}')
    }
    assert.equal(seen.length, 2)
    assert.ok(seen.every((error) => error instanceof GraphQLError))
    assert.deepEqual(LOCKED.extensions['http'], { status: 423, headers: { 'retry-after': '60' } })
  })
}

test('a GraphQL error without a proper status is a failure of the option', async () => {
  for (const http of [undefined, null, {}, { status: '401' }, { status: 99 }, { status: 1e9 }]) {
    const error = new GraphQLError('No', { extensions: { http } })
    const context = () => Promise.reject(error)
    await assert.rejects(createHandler({ schema, context })(post(HELLO)), error)
  }
})

test('the signal of a request reaches execute for queries; mutations can only get it through the context', async () => {
  const { signal } = new AbortController()
  const seen: unknown[] = []
  const handler = createHandler<unknown, unknown, object>({
    schema,
    context: (req) => ({ signal: req.signal }),
    execute(args) {
      seen.push('abortSignal' in args ? args.abortSignal : undefined, args.contextValue)
      return execute(args)
    },
  })
  await handler({ ...post(HELLO), signal })
  await handler({ ...post({ query: 'mutation { bump }' }), signal })
  assert.deepEqual(seen, [signal, { signal }, undefined, { signal }])
  assert.equal(seen[0], signal)
})

test('an option that aborts because the client has disconnected is not a failure', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const handler = createHandler({
    schema,
    context: () => {
      controller.abort()
      signal.throwIfAborted()
    },
  })
  assert.equal((await handler({ ...post(HELLO), signal }))[1].status, 499)
  const failing = createHandler({ schema, context: () => Promise.reject(new Error('down')) })
  await assert.rejects(failing({ ...post(HELLO), signal }), /down/)
})

test('a custom parser that returns nothing leaves it to the default one', async () => {
  for (const nothing of [undefined, null]) {
    const handler = createHandler({ schema, parseRequestParams: async () => nothing })
    assert.deepEqual(toAnswer(await handler(post(HELLO))).json, { data: { hello: 'world' } })
    assert.equal((await handler({ ...post(HELLO), method: 'PUT' }))[1].status, 405)
  }
})

const THROWN: readonly (readonly [thrown: unknown, message: string])[] = [
  [new TypeError('typed'), 'typed'],
  ['a string', 'a string'],
  [42, '42'],
  [undefined, 'undefined'],
  [null, 'null'],
  [{ toString: () => 'its string form' }, 'its string form'],
]

for (const [thrown, message] of THROWN) {
  test(`a custom parser may throw ${message}`, async () => {
    const handler = createHandler({
      schema,
      parseRequestParams() {
        throw thrown
      },
    })
    assert.deepEqual(await handler(post(HELLO, { accept: GR })), [
      JSON.stringify({ errors: [{ message }] }),
      {
        status: 400,
        statusText: 'Bad Request',
        headers: { 'content-type': 'application/json; charset=utf-8' },
      },
    ])
  })
}

test('a query from a custom parser that is not a string is an error, not a crash', async () => {
  for (const query of [undefined, null, 1, {}, [], Symbol('query')]) {
    for (const documentCache of [100, false] as const) {
      const params: object = { query }
      const handler = createHandler({
        schema,
        documentCache,
        // @ts-expect-error: a parser written in JavaScript can do this
        parseRequestParams: () => params,
      })
      const { status, json } = toAnswer(await handler(post(HELLO, { accept: GR })))
      assert.equal(status, 400)
      assert.equal(json.errors?.length, 1)
    }
  }
})

test('parse gets the query, and its plain error is a bad request', async (t) => {
  const failing = t.mock.fn((_source: string): never => {
    throw new Error('cannot')
  })
  const answer = toAnswer(await createHandler({ schema, parse: failing })(post(HELLO)))
  assert.deepEqual(failing.mock.calls[0]?.arguments, [HELLO.query])
  assert.deepEqual([answer.status, answer.body], [400, '{"errors":[{"message":"cannot"}]}'])
})

test('a list of validation rules is added to the specified rules', async () => {
  const rule = () => ({})
  const seen: unknown[] = []
  const handler = createHandler({
    schema,
    validationRules: [rule],
    validate: (...args) => {
      seen.push(args[2])
      return []
    },
  })
  await handler(post(HELLO))
  assert.deepEqual(seen, [[...specifiedRules, rule]])
})

test('a function for validation rules replaces the specified rules', async () => {
  for (const rules of [() => [], async () => []]) {
    const lax = createHandler({ schema, validationRules: rules })
    assert.deepEqual(toAnswer(await lax(post({ query: '{ nope }' }))).json, { data: {} })
  }
})

test('validation reports all its errors at once', async () => {
  const { json } = toAnswer(await createHandler({ schema })(post({ query: '{ one two three }' })))
  assert.equal(json.errors?.length, 3)
})

test('onOperation replaces the result, or leaves it', async () => {
  const replaced = createHandler({ schema, onOperation: async () => ({ data: { other: 1 } }) })
  assert.deepEqual(toAnswer(await replaced(post(HELLO))).json, { data: { other: 1 } })
  const left = createHandler({ schema, onOperation: () => undefined })
  assert.deepEqual(toAnswer(await left(post(HELLO))).json, { data: { hello: 'world' } })
})

test('errors from onOperation, one or a list, are answered like those from onSubscribe', async () => {
  const error = new GraphQLError('no')
  for (const returned of [error, [error], new Error('no')]) {
    for (const hook of ['onOperation', 'onSubscribe']) {
      const handler = createHandler({ schema, [hook]: () => returned })
      const { status, type, json } = toAnswer(await handler(post(HELLO, { accept: GR })))
      assert.deepEqual([status, type, json], [400, GR, { errors: [{ message: 'no' }] }])
    }
  }
})

test('onOperation gets the request, the arguments and the result', async () => {
  const req = post(HELLO)
  const calls: unknown[][] = []
  const result = { data: { hello: 'there' } }
  const handler = createHandler({
    schema,
    context: 'context',
    execute: () => result,
    onOperation: (...args) => {
      calls.push(args)
    },
  })
  await handler(req)
  assert.equal(calls[0]?.[0], req)
  assert.equal(calls[0]?.[2], result)
  const args = calls[0]?.[1]
  assert.ok(args !== null && typeof args === 'object' && 'contextValue' in args)
  assert.equal(args.contextValue, 'context')
})

test('getOperationAST that throws or finds nothing means no operation', async () => {
  const thrower = () => {
    throw new Error('secret')
  }
  for (const find of [() => null, () => undefined, thrower]) {
    const handler = createHandler({ schema, getOperationAST: find })
    const { status, body } = toAnswer(await handler(post(HELLO, { accept: GR })))
    assert.equal(status, 400)
    assert.equal(body, '{"errors":[{"message":"Unable to detect operation AST"}]}')
  }
})
