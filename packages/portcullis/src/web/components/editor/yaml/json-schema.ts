import { item } from './yaml-cursor.ts'

/** The keywords of JSON Schema that completion and hover use. */
export interface JsonSchema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
}

/** Returns the schemas that apply to the value at a path: several if there are alternatives. */
export function findSchemas(root: JsonSchema, path: readonly string[]): readonly JsonSchema[] {
  let schemas = expand(root, root)
  for (const name of path) {
    schemas = schemas.flatMap((schema) => {
      const next = name === item ? schema.items : schema.properties?.[name]
      return next === undefined ? [] : expand(root, next)
    })
  }
  return schemas
}

/** Resolves references and alternatives. The description beside a reference takes precedence. */
function expand(root: JsonSchema, schema: JsonSchema, depth = 0): readonly JsonSchema[] {
  // A schema may refer to itself.
  if (depth > 8) return []
  const { $ref, anyOf, oneOf, ...own } = schema
  const others = [
    ...($ref === undefined ? [] : [findDefinition(root, $ref)]),
    ...(anyOf ?? []),
    ...(oneOf ?? []),
  ]
  if (others.length === 0) return [own]
  const { description } = own
  return [
    own,
    ...others.flatMap((other) =>
      expand(root, other, depth + 1).map((each) =>
        description === undefined ? each : { ...each, description },
      ),
    ),
  ]
}

function findDefinition(root: JsonSchema, reference: string): JsonSchema {
  const name = /^#\/\$defs\/(.+)$/.exec(reference)?.[1] ?? ''
  return root.$defs?.[name] ?? {}
}

/** What a person needs to know about a field. */
export interface FieldFacts {
  readonly description: string | undefined
  /** Such as `integer` or `string or boolean`. */
  readonly type: string
  readonly values: readonly string[]
  /** The default as YAML; undefined if there is none. */
  readonly fallback: string | undefined
  readonly range: string | undefined
}

export function toFieldFacts(schemas: readonly JsonSchema[]): FieldFacts {
  const types = new Set(schemas.flatMap(({ type }) => type ?? []))
  // Null means that the field is left out, and no reader writes it.
  types.delete('null')
  const values = schemas.flatMap((schema) => {
    const listed = schema.enum ?? (schema.const === undefined ? [] : [schema.const])
    return listed.filter((value) => value !== null).map(String)
  })
  const [minimum, maximum] = [schemas, schemas].map((all, index) =>
    all.map((schema) => (index === 0 ? schema.minimum : schema.maximum)).find(isNumber),
  )
  const fallback = schemas.find((schema) => schema.default !== undefined)?.default
  return {
    description: schemas.find(({ description }) => description !== undefined)?.description,
    type: [...types].join(' or ') || (values.length > 0 ? 'one of' : 'any value'),
    values: types.has('boolean') && types.size === 1 ? ['true', 'false'] : [...new Set(values)],
    fallback: fallback === undefined ? undefined : String(fallback),
    range: toRange(minimum, maximum),
  }
}

function isNumber(value: number | undefined): value is number {
  return value !== undefined
}

function toRange(minimum: number | undefined, maximum: number | undefined): string | undefined {
  if (minimum === undefined) return maximum === undefined ? undefined : `at most ${maximum}`
  return maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`
}
