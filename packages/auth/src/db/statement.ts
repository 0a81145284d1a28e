/** A statement that PostgreSQL prepares once for each connection, under its name. */
export interface Statement {
  readonly name: string
  /** `{ns}` stands for the schema. */
  readonly text: string
}

export function statement(name: string, text: string): Statement {
  return { name, text }
}

/** Puts the schema in. Its name was checked to be a plain word. */
export function withSchema(text: string, schema: string): string {
  return text.replaceAll('{ns}', `"${schema}"`)
}
