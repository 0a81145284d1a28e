/** The position and the reason of a syntax error. */
interface JsonFault {
  readonly line: number
  readonly column: number
  readonly message: string
}

type ParsedObject =
  | { readonly value: Readonly<Record<string, unknown>> }
  | { readonly fault: JsonFault }

/** Finds errors with its own parser, since the messages of browsers differ and may lack a position. */
export function parseJsonObject(text: string): ParsedObject {
  const fault = findFault(text)
  if (fault) return { fault }
  const value: unknown = JSON.parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { value: { ...value } }
  }
  return {
    fault: toFault(text, text.search(/\S/), 'it must be a JSON object that begins with {'),
  }
}

class FaultFound extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

function findFault(text: string): JsonFault | undefined {
  try {
    const end = skipValue(text, skipSpace(text, 0))
    const rest = skipSpace(text, end)
    if (rest < text.length) throw new FaultFound(rest, 'unexpected text after the closing bracket')
    return undefined
  } catch (error) {
    if (error instanceof FaultFound) return toFault(text, error.at, error.message)
    throw error
  }
}

function toFault(text: string, at: number, message: string): JsonFault {
  const before = text.slice(0, at).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message }
}

/** Takes the start of a token, and returns its end. */
type Skip = (text: string, at: number) => number

const skipSpace: Skip = (text, at) => matchAt(/[ \t\n\r]*/y, text, at) ?? at

const skipValue: Skip = (text, at) => {
  const first = text[at]
  if (first === '{') return skipObject(text, at)
  if (first === '[') return skipArray(text, at)
  if (first === '"') return skipString(text, at)
  const end = matchAt(/true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, text, at)
  if (end === undefined) throw new FaultFound(at, `expected a value, found ${toFound(text, at)}`)
  const more = matchAt(/[\w.+-]+/y, text, end)
  if (more === undefined) return end
  throw new FaultFound(at, `${text.slice(at, more)} is not a number, true, false or null`)
}

const skipObject: Skip = (text, at) =>
  skipItems(text, at, '}', (start) => {
    if (text[start] !== '"') {
      throw new FaultFound(start, `expected a key in double quotes, found ${toFound(text, start)}`)
    }
    const colon = skipSpace(text, skipString(text, start))
    if (text[colon] !== ':') {
      throw new FaultFound(colon, `expected a colon after the key, found ${toFound(text, colon)}`)
    }
    return skipValue(text, skipSpace(text, colon + 1))
  })

const skipArray: Skip = (text, at) => skipItems(text, at, ']', (start) => skipValue(text, start))

function skipItems(
  text: string,
  at: number,
  closing: string,
  skipItem: (start: number) => number,
): number {
  let position = skipSpace(text, at + 1)
  if (text[position] === closing) return position + 1
  for (;;) {
    position = skipSpace(text, skipItem(position))
    if (text[position] === closing) return position + 1
    if (text[position] !== ',') {
      const found = toFound(text, position)
      throw new FaultFound(position, `expected a comma or ${closing}, found ${found}`)
    }
    const comma = position
    position = skipSpace(text, position + 1)
    if (text[position] === closing) {
      throw new FaultFound(comma, 'a trailing comma is not allowed')
    }
  }
}

const skipString: Skip = (text, at) => {
  // oxlint-disable-next-line no-control-regex -- JSON forbids these characters.
  const end = matchAt(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y, text, at) ?? at
  if (text[end] === '"') return end + 1
  if (text[end] === '\\') throw new FaultFound(end, 'invalid escape sequence')
  throw new FaultFound(at, 'the string has no closing quote on this line')
}

function matchAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

function toFound(text: string, at: number): string {
  const found = text[at]
  return found === undefined
    ? 'the end of the text'
    : found === '\n'
      ? 'the end of the line'
      : found
}
