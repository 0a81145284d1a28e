import { GraphQLError, type GraphQLErrorOptions } from 'graphql'
import type { FormatError } from './options.ts'

/** Options of {@link maskErrors}. */
export interface MaskErrorsOptions {
  /**
   * The message that clients receive instead of an unexpected error. Default: `Internal server
   * error`.
   */
  readonly message?: string
  /**
   * Called with each unexpected error, as the resolver threw it, and the id that the client
   * received. Default: `console.error`.
   */
  readonly log?: (error: Error, id: string) => void
  /**
   * Returns true for an error whose message clients may see although it is not a `GraphQLError`,
   * for example an error of your own class. It receives the error as the resolver threw it.
   * Default: no such error.
   */
  readonly isIntended?: (error: Error) => boolean
  /** Creates the id that connects the response with the log. Default: a random UUID. */
  readonly createId?: () => string
}

/**
 * Returns a `formatError` that hides unexpected errors from clients: errors thrown by resolvers that
 * are not a `GraphQLError`, and values that do not fit the schema. The client receives a general
 * message and an id in `extensions.id`; the error itself is logged with that id.
 *
 * Errors meant for clients are sent unchanged: `GraphQLError`s that resolvers throw on purpose, and
 * errors in the request, such as syntax, validation and variable coercion errors.
 *
 * @example
 * ```ts
 * import { maskErrors } from '@portcullis/graphql-over-http/mask-errors'
 * import { createHandler } from '@portcullis/graphql-over-http/use/http'
 * import { buildSchema } from 'graphql'
 *
 * const schema = buildSchema('type Query { hello: String }')
 * const handler = createHandler({ schema, formatError: maskErrors() })
 * ```
 */
export function maskErrors(options: MaskErrorsOptions = {}): FormatError {
  checkOptions(options)
  const {
    message = 'Internal server error',
    log = (error, id) => console.error(`Unexpected GraphQL error ${id}:`, error),
    isIntended = () => false,
    createId = () => crypto.randomUUID(),
  } = options
  return (error) => {
    const { nodes, source, positions, path, originalError } = error as GraphQLError
    if (isForClients(error)) return error
    const thrown = originalError ?? error
    if (isIntended(thrown)) return error
    const id = createId()
    log(thrown, id)
    const extensions = { code: 'INTERNAL_SERVER_ERROR', id }
    // Some of these are undefined for documents without locations, which graphql's types do not allow.
    const place = { nodes, source, positions, path } as GraphQLErrorOptions
    return new GraphQLError(message, { ...place, extensions })
  }
}

function isForClients(error: Readonly<Error>): boolean {
  if (!isGraphQLError(error)) return !isProgrammingError(error)
  // Only execution adds a path to errors, so this error is about the request.
  if (error.path === undefined) return true
  const { originalError } = error
  if (originalError === undefined) return true
  return isGraphQLError(originalError) && !isOutputError(originalError)
}

/**
 * Compares the name too: with two copies of graphql loaded, `instanceof` recognizes only one of
 * them.
 */
function isGraphQLError(error: Readonly<Error>): error is GraphQLError {
  return error instanceof GraphQLError || error.name === 'GraphQLError'
}

/**
 * Errors outside of execution come from reading the request, where throwing is the way to refuse
 * it. The built-in classes below indicate a bug in a `parseRequestParams` function instead.
 */
function isProgrammingError(error: Readonly<Error>): boolean {
  return (
    error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  )
}

/**
 * The errors that graphql throws when a resolver returns a value that its type cannot represent.
 */
function isOutputError({ message }: Error): boolean {
  return /^(?:Int|Float|String|Boolean|ID|Enum "\w+") cannot represent /.test(message)
}

const kinds = {
  message: 'string',
  log: 'function',
  isIntended: 'function',
  createId: 'function',
} as const satisfies Record<keyof MaskErrorsOptions, string>

function checkOptions(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name as keyof typeof kinds] : undefined
    if (kind === undefined) {
      throw new TypeError(
        `maskErrors: unknown option "${name}"; the options are ${Object.keys(kinds).join(', ')}`,
      )
    }
    if (value !== undefined && typeof value !== kind) {
      throw new TypeError(`maskErrors: option "${name}" must be a ${kind}`)
    }
  }
}
