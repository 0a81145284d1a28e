// Never run, only compiled. A line that must not compile is marked with the reason.
import { parse } from 'graphql'
import { createHandler, type HandlerOptions, type OperationArgs } from '../../src/index.ts'
import { schema } from '../support/schema.ts'
import { type Equal, isTrue } from './equal.ts'

interface UserContext {
  readonly user: string
}

class Session {
  readonly #secret = 'secret'
  readonly user = 'Ada'

  reveal(): string {
    return this.#secret
  }
}

type Alias = { readonly user: string }

// Interfaces and classes have no index signature, but are valid contexts.
createHandler<unknown, unknown, UserContext>({ schema, context: { user: 'Ada' } })
createHandler<unknown, unknown, UserContext>({ schema, context: () => ({ user: 'Ada' }) })
createHandler<unknown, unknown, UserContext>({ schema, context: async () => ({ user: 'Ada' }) })
createHandler<unknown, unknown, Session>({ schema, context: new Session() })
createHandler<unknown, unknown, Session>({ schema, context: async () => new Session() })
createHandler<unknown, unknown, Alias>({ schema, context: { user: 'Ada' } })

// Primitive values are valid contexts too.
createHandler<unknown, unknown, symbol>({ schema, context: Symbol('context') })
createHandler<unknown, unknown, number | null>({ schema, context: () => null })
createHandler<unknown, unknown, string>({ schema, context: async () => 'Ada' })
createHandler<unknown, unknown, readonly string[]>({ schema, context: ['Ada'] })

// The context may be left out, as in graphql-http, and may end the request.
createHandler<unknown, unknown, UserContext>({ schema })
createHandler<unknown, unknown, UserContext>({
  schema,
  context: async () => [null, { status: 401, statusText: 'Unauthorized' }],
})
createHandler<unknown, unknown, UserContext>({
  schema,
  context: (req) =>
    req.url === '/' ? { user: 'Ada' } : [null, { status: 401, statusText: 'Unauthorized' }],
})

// The type of the context is inferred, and reaches the other options.
createHandler({
  schema,
  context: () => new Session(),
  onOperation(_req, args) {
    isTrue<Equal<(typeof args)['contextValue'], Session | undefined>>()
  },
})
createHandler<unknown, unknown, UserContext>({
  schema: (_req, args) => {
    isTrue<Equal<(typeof args)['contextValue'], UserContext | undefined>>()
    return schema
  },
  validationRules: (_req, args, rules) => {
    isTrue<Equal<(typeof args)['contextValue'], UserContext | undefined>>()
    return rules
  },
  onOperation(_req, args) {
    isTrue<Equal<(typeof args)['contextValue'], UserContext | undefined>>()
  },
})

const stored: OperationArgs<UserContext> = {
  schema,
  document: parse('{ hello }'),
  contextValue: { user: 'Ada' },
}
export const options: HandlerOptions<unknown, unknown, UserContext> = {
  onSubscribe: (_req, { query }) => (query === 'stored' ? stored : undefined),
}
export const mismatched: HandlerOptions<unknown, unknown, Session> = {
  // @ts-expect-error TS2322: arguments with another context
  onSubscribe: () => stored,
}

// @ts-expect-error TS2322: not the declared type
createHandler<unknown, unknown, UserContext>({ schema, context: { user: 1 } })

// @ts-expect-error TS2322: a class with private fields requires an instance
createHandler<unknown, unknown, Session>({ schema, context: { user: 'Ada', reveal: () => '' } })

// @ts-expect-error TS2322: the function does not return the declared type
createHandler<unknown, unknown, UserContext>({ schema, context: async () => ({ user: 1 }) })

// @ts-expect-error TS2322: the status of a pair must be a number
createHandler<unknown, unknown, UserContext>({ schema, context: () => [null, { status: '401' }] })

createHandler<unknown, unknown, UserContext>({
  schema,
  onOperation(_req, args) {
    // @ts-expect-error TS2339: not a property of the context
    return args.contextValue?.password
  },
})
