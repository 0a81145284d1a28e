/** What the cursor is at, as far as a schema is concerned. */
export interface YamlCursor {
  /** The names of the maps around the cursor; `*` is an item of a list. */
  readonly path: readonly string[]
  /** The key whose value the cursor is in; undefined if it is at a key. */
  readonly key: string | undefined
  /** The keys of the same map on other lines. */
  readonly siblings: ReadonlySet<string>
  /** The text before the cursor that a completion replaces. */
  readonly word: string
  /** The column of the key or value, which nested lines are indented from. */
  readonly column: number
}

/** The name of an item of a list in a path. */
export const item = '*'

interface Line {
  /** The columns of the dashes that start list items. */
  readonly dashes: readonly number[]
  /** The column of the content after the dashes. */
  readonly column: number
  readonly key: string | undefined
  /** The text after the colon, or all content if there is no key. */
  readonly rest: string
  readonly restColumn: number
}

const keyPattern = /^("[^"]*"|'[^']*'|[^\s:#{}[\],"'][^:#{}[\]]*?)\s*:(?=\s|$)\s*/

function parseLine(text: string): Line {
  const dashes: number[] = []
  let column = /^ */.exec(text)?.[0].length ?? 0
  for (;;) {
    const dash = /^-(?: +|$)/.exec(text.slice(column))
    if (!dash) break
    dashes.push(column)
    column += dash[0].length
  }
  const found = keyPattern.exec(text.slice(column))
  const key = found?.[1]?.replaceAll(/^["']|["']$/g, '')
  const restColumn = column + (found?.[0].length ?? 0)
  return { dashes, column, key, rest: text.slice(restColumn), restColumn }
}

/**
 * Finds the place of a position in block YAML by the indentation of the lines, and in flow YAML within one line. It works
 * for text that is still being written, where a parser only sees errors. Returns undefined in a comment.
 */
export function findCursor(
  lines: readonly string[],
  lineIndex: number,
  column: number,
): YamlCursor | undefined {
  const text = lines[lineIndex] ?? ''
  const before = text.slice(0, column)
  if (/(?:^|\s)#/.test(before.replaceAll(/"[^"]*"|'[^']*'/g, ''))) return undefined
  const line = parseLine(before)
  const outer = findPath(lines, lineIndex, line)
  const flow = readFlow(line.rest)
  const word = /[\w-]*$/.exec(before)?.[0] ?? ''
  if (flow !== undefined) {
    const path = [...outer, ...(line.key === undefined ? [] : [line.key]), ...flow.path]
    return { path, key: flow.key, siblings: flow.siblings, word, column: line.column }
  }
  const siblings = line.key === undefined ? findSiblings(lines, lineIndex, line) : new Set<string>()
  return { path: outer, key: line.key, siblings, word, column: line.column }
}

/** The path of the map or list that contains the content of a line. */
function findPath(lines: readonly string[], lineIndex: number, line: Line): string[] {
  const path: string[] = []
  let { column } = line
  let isItem = false
  const enterItem = (dash: number) => {
    path.unshift(item)
    column = dash
    isItem = true
  }
  for (const dash of line.dashes.toReversed()) enterItem(dash)
  for (let index = lineIndex - 1; index >= 0 && (column > 0 || isItem); index -= 1) {
    const text = lines[index] ?? ''
    if (/^\s*(?:#|$)/.test(text)) continue
    const above = parseLine(text)
    // A list may start at the column of its key.
    const isParent = above.column < column || (isItem && above.column === column)
    if (above.key !== undefined && isParent && /^(?:#|$)/.test(above.rest)) {
      path.unshift(above.key)
      column = above.column
      isItem = false
    }
    for (const dash of above.dashes.toReversed()) if (dash < column) enterItem(dash)
  }
  return path
}

/** The other keys at the column of a line, up to lines that are indented less. */
function findSiblings(lines: readonly string[], lineIndex: number, line: Line): Set<string> {
  const keys = new Set<string>()
  const collect = (step: 1 | -1) => {
    if (step === -1 && line.dashes.length > 0) return
    for (let index = lineIndex + step; index >= 0 && index < lines.length; index += step) {
      const text = lines[index] ?? ''
      if (/^\s*(?:#|$)/.test(text)) continue
      const other = parseLine(text)
      const startsItem = other.dashes.length > 0
      if (other.column < line.column || (step === 1 && startsItem && other.column === line.column))
        return
      if (other.column === line.column && other.key !== undefined) keys.add(other.key)
      if (step === -1 && startsItem && other.column === line.column) return
    }
  }
  collect(-1)
  collect(1)
  return keys
}

interface Flow {
  readonly path: readonly string[]
  readonly key: string | undefined
  readonly siblings: ReadonlySet<string>
}

interface FlowLevel {
  readonly isMap: boolean
  readonly siblings: Set<string>
  key: string | undefined
  text: string
}

/** Reads the maps and lists in braces that are open at the end of the text. */
function readFlow(text: string): Flow | undefined {
  const levels: FlowLevel[] = []
  for (const token of text.match(/"[^"]*"?|'[^']*'?|[{}[\],:]|[^"'{}[\],:]+/g) ?? []) {
    const level = levels.at(-1)
    if (token === '{' || token === '[') {
      levels.push({ isMap: token === '{', siblings: new Set(), key: undefined, text: '' })
    } else if (token === '}' || token === ']') levels.pop()
    else if (level === undefined) continue
    else if (token === ',') {
      level.key = undefined
      level.text = ''
    } else if (token === ':' && level.isMap && level.key === undefined) {
      level.key = level.text.trim().replaceAll(/^["']|["']$/g, '')
      level.siblings.add(level.key)
    } else level.text += token
  }
  const last = levels.at(-1)
  if (last === undefined) return undefined
  const outer = levels.slice(0, -1).flatMap(({ isMap, key }) => (isMap ? [key ?? ''] : [item]))
  if (last.isMap) return { path: outer, key: last.key, siblings: last.siblings }
  // In a list the cursor is at an item.
  return { path: outer, key: item, siblings: new Set() }
}
