import { type Schema, toFieldTable } from './schema-table.ts'

interface RuleSchema extends Schema {
  readonly $defs: Readonly<Record<string, Schema>>
}

/** Renders the JSON Schema of rule files as Markdown. */
export function toRuleKeysPage(schema: object): string {
  const { $defs, ...file } = schema as RuleSchema
  const chapters = Object.entries($defs).map(
    ([name, definition]) =>
      `## ${name}\n\n${definition.description ?? ''}\n\n${toFieldTable(definition) ?? ''}`,
  )
  return `# Keys of a rule file

Every key of a rule file, generated from the schema that editors use
(\`packages/ratelimit/schema/rules.schema.json\`). [Rules by example](/ratelimit/rules-by-example) shows how to use
them. \`ratelimit check --strict\` also finds errors that involve several rules.

## A file

${toFieldTable(file) ?? ''}

${chapters.join('\n\n')}
`
}
