export type Row = Readonly<Record<string, unknown>>

/**
 * A statement that PostgreSQL prepares once per connection, under its name.
 * @typeParam V the object with its values. `Statement` alone is any statement.
 */
export interface Statement<V = never, R extends Row = Row> {
  readonly name: string
  /** The names of `$1`, `$2` and so on; see `object` and `batch` for the others. */
  readonly parameters: readonly string[] | ObjectParameter<V> | BatchParameters
  /** `{ns}` is replaced by the schema. */
  readonly text: string
  /** Handles several executions at once; see `sharing`. */
  readonly shared?: Statement
  /** Declares the type of the rows. */
  returning<Returned extends Row>(): Statement<V, Returned>
  /**
   * Declares a `batch` statement that does the same for several requests at once. It must not wait
   * for locks. The column `is_busy` of its rows is true for a request that it could not handle; that
   * one is executed alone, and so are all of them if it fails.
   */
  sharing(shared: Statement<V>): Statement<V, R>
  /** Used by the type checker only. */
  readonly types?: { readonly values: (values: V) => void; readonly row: R }
}

/** The object of values is passed as a single parameter. */
export interface ObjectParameter<V> {
  readonly kind: 'object'
  /** Used by the type checker only. */
  readonly values?: (values: V) => void
}

/** Every parameter is an array with one element for each request of a batch. */
export interface BatchParameters<Name extends string = string> {
  readonly kind: 'batch'
  readonly names: readonly Name[]
}

export type NoValues = Readonly<Record<string, never>>
export type NamedValues<Name extends string> = { readonly [N in Name]: unknown }

/**
 * Defines a statement. This one is run by `db.run(findUser, { email, audience })`:
 *
 *     const findUser = statement('find_user', ['email', 'audience'], '… $1 … $2').returning<User>()
 *
 * @param parameters the names of `$1`, `$2` and so on, in this order; see also `object`.
 */
export function statement(name: string, text: string): Statement<NoValues>
export function statement<const Name extends string>(
  name: string,
  parameters: readonly Name[],
  text: string,
): Statement<NamedValues<Name>>
export function statement<Name extends string>(
  name: string,
  parameters: BatchParameters<Name>,
  text: string,
): Statement<NamedValues<Name>>
export function statement<V extends object>(
  name: string,
  parameters: ObjectParameter<V>,
  text: string,
): Statement<V>
export function statement(
  name: string,
  ...rest: [text: string] | [parameters: Statement['parameters'], text: string]
): Statement {
  const [parameters, text] = rest.length === 1 ? [[], ...rest] : rest
  return create({ name, parameters, text })
}

type Fields = Pick<Statement, 'name' | 'parameters' | 'text' | 'shared'>

function create(fields: Fields): Statement<never, never> {
  const made: Statement<never, never> = {
    ...fields,
    returning: () => made,
    sharing: (shared) => create({ ...fields, shared }),
  }
  return made
}

/**
 * `$1` is the whole object as JSON, whose fields the statement reads with `jsonb_to_record`. Use it
 * for structured values.
 */
export function object<V extends object>(): ObjectParameter<V> {
  return { kind: 'object' }
}

/**
 * The statement answers several requests at once: `$1`, `$2` and so on are arrays, in which each
 * request has the same place. Each row has that place, from 1, in the column `position`. Use it for
 * frequent statements that only read, with values that cannot fail: an error fails the whole batch.
 * See `sharing` for those that write.
 */
export function batch<const Name extends string>(names: readonly Name[]): BatchParameters<Name> {
  return { kind: 'batch', names }
}

/** The statement that handles several requests at once, if there is one. */
export function findShared(statement: Statement): Statement | undefined {
  const { parameters, shared } = statement
  return 'kind' in parameters && parameters.kind === 'batch' ? statement : shared
}

/**
 * Returns the values in the order of `$1`, `$2` and so on.
 * @param values of a batch: one object for each request, or the object of the only one.
 */
export function toPositional({ parameters }: Statement, values: object = {}): unknown[] {
  if (!('kind' in parameters)) return parameters.map((name) => Reflect.get(values, name))
  if (parameters.kind === 'object') return [values]
  const all: readonly object[] = Array.isArray(values) ? values : [values]
  return parameters.names.map((name) => all.map((each) => Reflect.get(each, name)))
}

/** Inserts the schema, whose name was validated as a plain identifier. */
export function withSchema(text: string, schema: string): string {
  return text.replaceAll('{ns}', `"${schema}"`)
}

/** Quotes identifiers for SQL: `"auth"."users"`. */
export function quote(...names: readonly string[]): string {
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')
}

/** The part of a list that a statement returns. */
export interface Page {
  readonly number: number
  readonly size: number
  readonly offset: number
}

/** An `ilike` pattern that finds the text anywhere. `%` and `_` in the text are escaped. */
export function toSubstringPattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
}
