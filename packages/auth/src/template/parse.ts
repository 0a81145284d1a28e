import { functions } from './functions.ts'
import { type Segment, scan, type Token } from './scan.ts'
import { templateErrorAt } from './template-error.ts'

export type Expression =
  | { readonly type: 'literal'; readonly value: unknown }
  | { readonly type: 'path'; readonly from: PathStart; readonly names: readonly string[] }
  | { readonly type: 'call'; readonly name: string; readonly operands: readonly Expression[] }

export type PathStart = 'dot' | 'root' | Expression

export type Node =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'output'; readonly expression: Expression }
  | Block

export interface Block {
  readonly type: 'if' | 'range' | 'with'
  readonly expression: Expression
  readonly body: readonly Node[]
  readonly otherwise: readonly Node[]
}

const blockTypes = { if: 'if', range: 'range', with: 'with' } as const
const unsupported = new Set(['define', 'template', 'block', 'break', 'continue'])

/** Prevents a stack overflow; no real template is nested this deeply. */
const maxDepth = 50

type Action = Extract<Segment, { type: 'action' }>

/** Parses the subset of Go templates that messages use. */
export function parseNodes(source: string): readonly Node[] {
  const segments = scan(source)
  let next = 0

  /** Parses up to `else` or `end`, which the caller handles. */
  const parseList = (depth: number, opener: Action | undefined) => {
    if (depth > maxDepth) throw templateErrorAt(source, opener?.at ?? 0, 'nested too deeply')
    const nodes: Node[] = []
    for (;;) {
      const segment = segments[next++]
      if (segment === undefined) {
        if (opener === undefined) return { nodes, closer: undefined }
        throw templateErrorAt(source, opener.at, `this ${firstWord(opener)} has no {{ end }}`)
      }
      if (segment.type === 'text') {
        nodes.push(segment)
        continue
      }
      const word = firstWord(segment)
      if (word === 'end' || word === 'else') {
        if (opener !== undefined) return { nodes, closer: segment }
        throw templateErrorAt(source, segment.at, `this ${word} has no matching block`)
      }
      const type = toBlockType(word)
      nodes.push(type === undefined ? toOutput(segment) : parseBlock(type, segment, 0, depth))
    }
  }
  /** @param skip the number of words before the expression, besides `if` itself. */
  const parseBlock = (type: Block['type'], action: Action, skip: number, depth: number): Block => {
    const expression = parseExpression(source, action, skip + 1)
    const { nodes: body, closer } = parseList(depth + 1, action)
    return { type, expression, body, otherwise: parseRest(closer, depth) }
  }
  const parseRest = (closer: Action | undefined, depth: number): readonly Node[] => {
    if (closer === undefined || firstWord(closer) === 'end') {
      if (closer !== undefined) refuseMore(source, closer, 1)
      return []
    }
    const second = closer.tokens[1]
    if (second === undefined) {
      const { nodes, closer: end } = parseList(depth + 1, closer)
      if (end !== undefined && firstWord(end) !== 'end') {
        throw templateErrorAt(source, end.at, 'a second else')
      }
      if (end !== undefined) refuseMore(source, end, 1)
      return nodes
    }
    // `else if` shares its `end` with the preceding `if`.
    const type = second.type === 'word' ? toBlockType(second.text) : undefined
    if (type === undefined || type === 'range') {
      throw templateErrorAt(source, closer.at, 'else can only be followed by if or with')
    }
    return [parseBlock(type, closer, 1, depth + 1)]
  }
  const toOutput = (action: Action): Node => {
    const word = firstWord(action)
    if (word !== undefined && unsupported.has(word)) {
      throw templateErrorAt(source, action.at, `${word} is not supported`)
    }
    return { type: 'output', expression: parseExpression(source, action, 0) }
  }
  return parseList(0, undefined).nodes
}

function firstWord({ tokens: [first] }: Action): string | undefined {
  return first?.type === 'word' ? first.text : undefined
}

function toBlockType(word: string | undefined): Block['type'] | undefined {
  return word === 'if' || word === 'range' || word === 'with' ? blockTypes[word] : undefined
}

function refuseMore(source: string, action: Action, from: number): void {
  const more = action.tokens[from]
  if (more !== undefined) throw templateErrorAt(source, more.at, 'unexpected after end')
}

/** Parses a pipeline: the value before a `|` is the last operand of the command after it. */
function parseExpression(source: string, action: Action, from: number): Expression {
  const { tokens } = action
  let next = from
  const placeOf = (token: Token | undefined) => token?.at ?? action.at
  const isMark = (token: Token | undefined, text: string) =>
    token?.type === 'mark' && token.text === text

  const parsePipeline = (depth: number): Expression => {
    let left = parseCommand(undefined, depth)
    while (isMark(tokens[next], '|')) {
      next++
      left = parseCommand(left, depth)
    }
    return left
  }
  const parseCommand = (piped: Expression | undefined, depth: number): Expression => {
    if (depth > maxDepth) throw templateErrorAt(source, placeOf(tokens[next]), 'nested too deeply')
    const first = tokens[next]
    if (first === undefined || isMark(first, '|') || isMark(first, ')')) {
      throw templateErrorAt(source, placeOf(first), 'a value is missing')
    }
    if (first.type !== 'word') {
      const value = parseOperand(depth)
      if (piped !== undefined || startsOperand(tokens[next])) {
        throw templateErrorAt(source, placeOf(first), 'only a function can have operands')
      }
      return value
    }
    next++
    const { text: name } = first
    const rule = Object.hasOwn(functions, name) ? functions[name] : undefined
    if (rule === undefined) {
      const names = Object.keys(functions).join(', ')
      throw templateErrorAt(
        source,
        first.at,
        `unknown function ${name}; the functions are ${names}`,
      )
    }
    const operands: Expression[] = []
    while (startsOperand(tokens[next])) operands.push(parseOperand(depth))
    if (piped !== undefined) operands.push(piped)
    if (operands.length < rule.least || operands.length > rule.most) {
      const allowed = rule.least === rule.most ? rule.least : `${rule.least} to ${rule.most}`
      throw templateErrorAt(
        source,
        first.at,
        `wrong number of operands for ${name}: ${operands.length} instead of ${allowed}`,
      )
    }
    return { type: 'call', name, operands }
  }
  const parseOperand = (depth: number): Expression => {
    const token = tokens[next++]
    if (token?.type === 'literal') return token
    if (token?.type === 'path') {
      return { type: 'path', from: token.isRoot ? 'root' : 'dot', names: token.names }
    }
    if (token?.type === 'word') {
      throw templateErrorAt(source, token.at, `write (${token.text} …) in parentheses`)
    }
    const inner = parsePipeline(depth + 1)
    const closer = tokens[next++]
    if (!isMark(closer, ')')) throw templateErrorAt(source, placeOf(token), 'this ( has no )')
    // `(index .Data.list 0).name`
    const after = tokens[next]
    if (after?.type !== 'path' || after.at !== placeOf(closer) + 1) return inner
    next++
    return { type: 'path', from: inner, names: after.names }
  }
  const startsOperand = (token: Token | undefined) =>
    token !== undefined && (token.type !== 'mark' || token.text === '(')

  const expression = parsePipeline(0)
  const more = tokens[next]
  if (more !== undefined) throw templateErrorAt(source, more.at, 'unexpected here')
  return expression
}
