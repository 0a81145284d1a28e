export type Row = Readonly<Record<string, unknown>>

/**
 * A statement that PostgreSQL prepares once per connection, under its name.
 * @typeParam V the object with its values. `Statement` alone is any statement.
 */
export interface Statement<V = never, R extends Row = Row> {
  readonly name: string
  /** The names of `$1`, `$2` and so on; or `$1` is the whole object as JSON. */
  readonly parameters: readonly string[] | ObjectParameter<V>
  /** `{ns}` is replaced by the schema. */
  readonly text: string
  /** Declares the type of the rows. */
  returning<Returned extends Row>(): Statement<V, Returned>
  /** Used by the type checker only. */
  readonly types?: { readonly values: (values: V) => void; readonly row: R }
}

/** The object of values is passed as a single parameter. */
export interface ObjectParameter<V> {
  readonly kind: 'object'
  /** Used by the type checker only. */
  readonly values?: (values: V) => void
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
  const made: Statement<never, never> = { name, parameters, text, returning: () => made }
  return made
}

/**
 * `$1` is the whole object as JSON, whose fields the statement reads with `jsonb_to_record`. Use it
 * for structured values.
 */
export function object<V extends object>(): ObjectParameter<V> {
  return { kind: 'object' }
}

/** Returns the values in the order of `$1`, `$2` and so on. */
export function toPositional({ parameters }: Statement, values: object = {}): unknown[] {
  if ('kind' in parameters) return [values]
  return parameters.map((name) => Reflect.get(values, name))
}

/** Inserts the schema, whose name was validated as a plain identifier. */
export function withSchema(text: string, schema: string): string {
  return text.replaceAll('{ns}', `"${schema}"`)
}

/** Quotes identifiers for SQL: `"auth"."users"`. */
export function quote(...names: readonly string[]): string {
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')
}
