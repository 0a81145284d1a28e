export type Row = Readonly<Record<string, unknown>>

/**
 * A statement that PostgreSQL prepares once for each connection, under its name.
 * @typeParam V the object with its values. `Statement` alone is any statement.
 */
export interface Statement<V = never, R extends Row = Row> {
  readonly name: string
  /** The names of `$1`, `$2` and so on; or `$1` is the whole object, as JSON. */
  readonly parameters: readonly string[] | ObjectParameter<V>
  /** `{ns}` stands for the schema. */
  readonly text: string
  /** Says what its rows look like. */
  returning<Returned extends Row>(): Statement<V, Returned>
  /** For the type checker alone. */
  readonly types?: { readonly values: (values: V) => void; readonly row: R }
}

/** The whole object of values is the only parameter. */
export interface ObjectParameter<V> {
  readonly kind: 'object'
  /** For the type checker alone. */
  readonly values?: (values: V) => void
}

export type NoValues = Readonly<Record<string, never>>
export type NamedValues<Name extends string> = { readonly [N in Name]: unknown }

/**
 * `const findUser = statement('find_user', ['email', 'audience'], '… $1 … $2').returning<UserRow>()`
 * is run by `db.run(findUser, { email, audience })`.
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
 * `$1` is the whole object, as JSON, whose fields the statement reads with `jsonb_to_record`: for
 * values with structure.
 */
export function object<V extends object>(): ObjectParameter<V> {
  return { kind: 'object' }
}

/** The values in the order of `$1`, `$2` and so on. */
export function toPositional({ parameters }: Statement, values: object = {}): unknown[] {
  if ('kind' in parameters) return [values]
  return parameters.map((name) => Reflect.get(values, name))
}

/** Puts the schema in. Its name was checked to be a plain word. */
export function withSchema(text: string, schema: string): string {
  return text.replaceAll('{ns}', `"${schema}"`)
}

/** Names with double quotes around them, as SQL has them: `"auth"."users"`. */
export function quote(...names: readonly string[]): string {
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')
}
