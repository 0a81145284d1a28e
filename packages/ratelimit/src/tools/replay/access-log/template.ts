/** A format or template that makes no sense. The column is that of the text it stands in. */
export class FormatError extends Error {
  override readonly name = 'FormatError'
  /** From 1. */
  readonly column: number

  constructor(message: string, column: number) {
    super(message)
    this.column = column
  }
}

/** `%NAME(ARGUMENT):LENGTH%` */
export interface Operator {
  readonly name: string
  readonly argument: string | undefined
  /** As written. */
  readonly text: string
  /** From 1. */
  readonly column: number
}

export type TemplatePart = string | Operator

const operator = /%([^%():]+)(?:\((.*?)\))?(?::\d+)?%/sy

/** Splits text with operators in it, as Envoy writes them; `%%` is a percent sign. */
export function parseTemplate(text: string): TemplatePart[] {
  const parts: TemplatePart[] = []
  let literal = ''
  let at = 0
  while (at < text.length) {
    const percent = text.indexOf('%', at)
    if (percent === -1) break
    literal += text.slice(at, percent)
    if (text[percent + 1] === '%') {
      literal += '%'
      at = percent + 2
      continue
    }
    operator.lastIndex = percent
    const [whole, name, argument] = operator.exec(text) ?? []
    if (whole === undefined || name === undefined) {
      throw new FormatError(
        'this % begins no operator such as %START_TIME% or %REQ(X-USER)%; a percent sign is written %%',
        percent + 1,
      )
    }
    if (literal !== '') parts.push(literal)
    literal = ''
    parts.push({ name, argument, text: whole, column: percent + 1 })
    at = percent + whole.length
  }
  literal += text.slice(at)
  if (literal !== '') parts.push(literal)
  return parts
}
