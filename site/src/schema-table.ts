/** The parts of JSON Schema that the generated pages show. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

/** A Markdown table with the fields of an object, or undefined if it has none. */
export function toFieldTable(schema: Schema): string | undefined {
  const fields = findFields(schema)
  if (fields.size === 0) return undefined
  return toTable(
    ['field', 'type', 'description'],
    [...fields].map(([name, { field, isRequired }]) => [
      `\`${name}\`${isRequired ? ' (required)' : ''}`,
      toType(field),
      describe(field),
    ]),
  )
}

export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toRow = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [toRow(head), `|${'---|'.repeat(head.length)}`, ...rows.map(toRow)].join('\n')
}

interface Field {
  readonly field: Schema
  readonly isRequired: boolean
}

/** A field of one alternative is optional, because another alternative may lack it. */
function findFields(schema: Schema, isAlternative = false): Map<string, Field> {
  const { properties = {}, required = [], allOf = [], anyOf = [] } = schema
  const fields = new Map<string, Field>()
  for (const [name, field] of Object.entries(properties)) {
    fields.set(name, { field, isRequired: !isAlternative && required.includes(name) })
  }
  const more = [
    ...allOf.map((part) => findFields(part, isAlternative)),
    ...anyOf.map((part) => findFields(part, true)),
  ]
  for (const part of more) {
    for (const [name, field] of part) if (!fields.has(name)) fields.set(name, field)
  }
  return fields
}

function toType({ type, items, anyOf, enum: values, $ref }: Schema): string {
  if ($ref !== undefined) return `[${toName($ref)}](#${toName($ref)})`
  if (values !== undefined) return values.filter(isPresent).map(toCode).join(', ')
  if (anyOf !== undefined) {
    const [first] = anyOf
    return first?.enum === undefined ? [...new Set(anyOf.map(toType))].join(' or ') : toType(first)
  }
  if (items !== undefined) return `array of ${toType(items)}`
  if (type === undefined) return 'any'
  return [type]
    .flat()
    .filter((name) => name !== 'null')
    .join(' or ')
}

/** The last part of a reference: `rule` for `#/$defs/rule`. */
const toName = (reference: string) => reference.split('/').at(-1) ?? ''
const isPresent = (value: unknown) => value !== null
const toCode = (value: unknown) => `\`${String(value)}\``

function describe({ description, default: usual, minimum, maximum, maxLength }: Schema): string {
  const notes = [
    description === undefined ? '' : `${description.replace(/\.$/, '')}.`,
    usual === undefined ? '' : `Default: ${toCode(usual)}.`,
    minimum === undefined ? '' : `At least ${minimum}.`,
    maximum === undefined ? '' : `At most ${maximum}.`,
    maxLength === undefined ? '' : `At most ${maxLength} characters.`,
  ]
  return notes.filter((note) => note !== '').join(' ') || '–'
}
