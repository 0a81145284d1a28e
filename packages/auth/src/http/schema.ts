/**
 * JSON Schemas that carry the type of the values they accept: one definition validates, types and
 * documents an endpoint. Only the kinds that requests need are supported, because a general library
 * takes longer to load than the rest of the server.
 */
export interface Schema<Value = unknown> {
  readonly type?: string
  readonly description?: string
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly additionalProperties?: Schema
  readonly items?: Schema
  /** Never set; it only carries the type. */
  readonly '~value'?: Value
}

/** The type of the values that a schema accepts. */
export type Static<S extends Schema> = Exclude<S['~value'], undefined>

export interface Optional<Value> extends Schema<Value> {
  readonly '~optional': true
}

export interface ObjectSchema<F extends Fields> extends Schema<ObjectOf<F>> {
  readonly properties: F
}

type Fields = Readonly<Record<string, Schema>>
type OptionalNames<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { readonly '~optional': true } ? Name : never
}[keyof F]
type ObjectOf<F extends Fields> = {
  [Name in Exclude<keyof F, OptionalNames<F>>]: Static<F[Name]>
} & { [Name in OptionalNames<F>]?: Static<F[Name]> }

interface Notes {
  readonly description?: string
}

interface TextNotes extends Notes {
  readonly maxLength?: number
}

/** Marks optional fields. Not a property of the schema, so that it is not serialised. */
const optional = new WeakSet<Schema>()

export const Type = {
  String: (notes: TextNotes = {}): Schema<string> => ({ type: 'string', ...notes }),
  Boolean: (notes: Notes = {}): Schema<boolean> => ({ type: 'boolean', ...notes }),
  Null: (): Schema<null> => ({ type: 'null' }),
  Unknown: (notes: Notes = {}): Schema<unknown> => ({ ...notes }),
  Array: <Value>(items: Schema<Value>, notes: Notes = {}): Schema<readonly Value[]> => ({
    type: 'array',
    items,
    ...notes,
  }),
  Record: <Value>(
    _key: Schema<string>,
    value: Schema<Value>,
    notes: Notes = {},
  ): Schema<Readonly<Record<string, Value>>> => ({
    type: 'object',
    additionalProperties: value,
    ...notes,
  }),
  Union: <S extends readonly Schema[]>(schemas: S): Schema<Static<S[number]>> => ({
    anyOf: schemas,
  }),
  Optional: <Value>(schema: Schema<Value>): Optional<Value> => {
    const marked = { ...schema }
    optional.add(marked)
    return marked as Optional<Value>
  },
  Object: <F extends Fields>(properties: F): ObjectSchema<F> => {
    const required = Object.keys(properties).filter((name) => {
      const field = properties[name]
      return field !== undefined && !optional.has(field)
    })
    return { type: 'object', properties, ...(required.length > 0 && { required }) }
  },
} as const
