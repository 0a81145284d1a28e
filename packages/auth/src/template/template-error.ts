/** A template that cannot be used. The message contains the position. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

/** `line 3, column 7: …` */
export function templateErrorAt(source: string, offset: number, problem: string): TemplateError {
  const before = source.slice(0, offset)
  const line = before.split('\n').length
  const column = offset - before.lastIndexOf('\n')
  return new TemplateError(`line ${line}, column ${column}: ${problem}`)
}
