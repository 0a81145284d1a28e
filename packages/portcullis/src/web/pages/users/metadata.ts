import type { Metadata } from '../../../console/routes/users-upstream.ts'

/** Where a text stops being JSON, and why. */
interface JsonFault {
  readonly line: number
  readonly column: number
  readonly message: string
}

type ParsedObject =
  | { readonly value: Readonly<Record<string, unknown>> }
  | { readonly fault: JsonFault }

/** Browsers tell of faults in words of their own, and some do not tell where they are. */
export function parseJsonObject(text: string): ParsedObject {
  const fault = findFault(text)
  if (fault) return { fault }
  const value: unknown = JSON.parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { value: { ...value } }
  }
  return { fault: toFault(text, text.search(/\S/), 'Metadata is an object: begin with {') }
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
    if (rest < text.length) throw new FaultFound(rest, 'nothing may follow the closing bracket')
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

/** Each takes where something begins, and returns where it has ended. */
type Skip = (text: string, at: number) => number

const skipSpace: Skip = (text, at) => matchAt(/[ \t\n\r]*/y, text, at) ?? at

const skipValue: Skip = (text, at) => {
  const first = text[at]
  if (first === '{') return skipObject(text, at)
  if (first === '[') return skipArray(text, at)
  if (first === '"') return skipString(text, at)
  const end = matchAt(/true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, text, at)
  if (end === undefined)
    throw new FaultFound(at, `a value is expected here, not ${toFound(text, at)}`)
  const more = matchAt(/[\w.+-]+/y, text, end)
  if (more === undefined) return end
  throw new FaultFound(at, `${text.slice(at, more)} is neither a number nor true, false or null`)
}

const skipObject: Skip = (text, at) =>
  skipItems(text, at, '}', (start) => {
    if (text[start] !== '"') {
      throw new FaultFound(
        start,
        `a key in double quotes is expected here, not ${toFound(text, start)}`,
      )
    }
    const colon = skipSpace(text, skipString(text, start))
    if (text[colon] !== ':') {
      throw new FaultFound(colon, `a colon is expected after the key, not ${toFound(text, colon)}`)
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
      throw new FaultFound(position, `a comma or ${closing} is expected here, not ${found}`)
    }
    const comma = position
    position = skipSpace(text, position + 1)
    if (text[position] === closing) {
      throw new FaultFound(comma, 'the last item has no comma behind it')
    }
  }
}

const skipString: Skip = (text, at) => {
  // oxlint-disable-next-line no-control-regex -- those are what JSON forbids.
  const end = matchAt(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y, text, at) ?? at
  if (text[end] === '"') return end + 1
  if (text[end] === '\\') throw new FaultFound(end, 'this backslash begins nothing that JSON knows')
  throw new FaultFound(at, 'this text has no closing quote on its line')
}

function matchAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

function toFound(text: string, at: number): string {
  const found = text[at]
  return found === undefined ? 'the end' : found === '\n' ? 'the end of the line' : found
}

/**
 * What to send so that `after` results: the auth server puts in the keys that it is sent, keeps the
 * others, and takes out those that are null. Undefined: nothing is different.
 */
export function toMetadataChange(before: Metadata, after: Metadata): Metadata | undefined {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const put = Object.entries(after).filter(
    ([key, value]) => JSON.stringify(before[key]) !== JSON.stringify(value),
  )
  if (removed.length === 0 && put.length === 0) return undefined
  return Object.fromEntries([...removed.map((key) => [key, null] as const), ...put])
}
