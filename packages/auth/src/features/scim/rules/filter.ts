import { findUnstorable } from '../../../stored-json.ts'
import { scimError } from './scim-error.ts'

/** A filter of RFC 7644, section 3.4.2.2. */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly left: Filter; readonly right: Filter }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'present'; readonly path: AttributePath }
  | {
      readonly kind: 'compare'
      readonly path: AttributePath
      readonly operator: Operator
      readonly value: Literal
    }
  /** `emails[type eq "work"]`: one value must match the whole filter. */
  | { readonly kind: 'some'; readonly path: AttributePath; readonly filter: Filter }

/** The names from the resource to the value, without the URN of the core schema. */
export type AttributePath = readonly string[]

type Literal = string | number | boolean | null

const operators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
type Operator = (typeof operators)[number]

const longestFilter = 2_000
/** The parser calls itself for each level of parentheses. */
const mostDepth = 20
const longestPath = 500

type Token =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: '(' | ')' | '[' | ']' }

const tokenPattern = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|([^\s()[\]"]+))/y

/** @throws {ApiError} */
export function parseFilter(text: string): Filter {
  if (text.length > longestFilter) throw invalid(`is longer than ${longestFilter} characters`)
  const parser = createParser(tokenize(text))
  const filter = parser.readOr(0)
  if (!parser.isAtEnd()) throw invalid('has text after its end')
  return filter
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  tokenPattern.lastIndex = 0
  while (tokenPattern.lastIndex < text.trimEnd().length) {
    const found = tokenPattern.exec(text)
    if (found === null) throw invalid('has a string that does not end')
    const [, quoted, bracket, word] = found
    if (quoted !== undefined) tokens.push({ kind: 'string', text: parseString(quoted) })
    else if (bracket !== undefined) tokens.push({ kind: bracket as '(' })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
  }
  return tokens
}

function parseString(quoted: string): string {
  const text = parseJson(quoted)
  if (typeof text !== 'string') throw invalid('has a string that is not valid JSON')
  // PostgreSQL would refuse the parameter.
  if (findUnstorable(text) !== undefined) throw invalid('has a character that cannot be stored')
  return text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const literals: ReadonlyMap<string, Literal> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** `or` binds weaker than `and`, and `and` weaker than `not`. */
function createParser(tokens: readonly Token[]) {
  let at = 0
  const isWord = (text: string) => {
    const token = tokens[at]
    return token?.kind === 'word' && token.text.toLowerCase() === text
  }
  const take = (kind: Token['kind']): Token => {
    const token = tokens[at]
    if (token?.kind !== kind) throw invalid(`needs ${kind} at position ${at + 1}`)
    at += 1
    return token
  }
  const takeWord = (): string => {
    const token = take('word')
    return token.kind === 'word' ? token.text : ''
  }

  function readOr(depth: number): Filter {
    if (depth > mostDepth) throw invalid(`is nested more than ${mostDepth} levels deep`)
    let left = readAnd(depth)
    while (isWord('or')) {
      at += 1
      left = { kind: 'or', left, right: readAnd(depth) }
    }
    return left
  }

  function readAnd(depth: number): Filter {
    let left = readTerm(depth)
    while (isWord('and')) {
      at += 1
      left = { kind: 'and', left, right: readTerm(depth) }
    }
    return left
  }

  function readGroup(depth: number, open: '(' | '[', close: ')' | ']'): Filter {
    take(open)
    const filter = readOr(depth + 1)
    take(close)
    return filter
  }

  function readTerm(depth: number): Filter {
    if (tokens[at]?.kind === '(') return readGroup(depth, '(', ')')
    if (isWord('not') && tokens[at + 1]?.kind === '(') {
      at += 1
      return { kind: 'not', filter: readGroup(depth, '(', ')') }
    }
    const path = parseAttributePath(takeWord())
    if (tokens[at]?.kind === '[') return { kind: 'some', path, filter: readGroup(depth, '[', ']') }
    const word = takeWord().toLowerCase()
    if (word === 'pr') return { kind: 'present', path }
    const operator = operators.find((known) => known === word)
    if (operator === undefined) throw invalid(`has the unknown operator ${word}`)
    return { kind: 'compare', path, operator, value: readLiteral() }
  }

  function readLiteral(): Literal {
    const token = tokens[at]
    at += 1
    if (token?.kind === 'string') return token.text
    if (token?.kind !== 'word') throw invalid('lacks a value')
    const literal = literals.get(token.text.toLowerCase())
    if (literal !== undefined) return literal
    if (/^-?\d+(?:\.\d+)?$/.test(token.text)) return Number(token.text)
    throw invalid(`has the value ${token.text}, which needs quotes`)
  }

  return { readOr, isAtEnd: () => at === tokens.length }
}

const coreUrn = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i
const extensionUrn = /^(urn:[^"[\]\s]+:(?:User|Group)):([\w$-]+(?:\.[\w$-]+)*)$/i

/** @throws {ApiError} */
export function parseAttributePath(text: string): AttributePath {
  if (text.length > longestPath) {
    throw scimError('invalidPath', `A path is longer than ${longestPath} characters`)
  }
  const bare = text.replace(coreUrn, '')
  const [, urn, rest] = extensionUrn.exec(bare) ?? []
  if (urn !== undefined && rest !== undefined) return [urn, ...rest.split('.')]
  // The name of an extension stands for the whole object.
  if (/^urn:[^"[\]\s]+:(?:User|Group)$/i.test(bare)) return [bare]
  if (/^(?:\$ref|[a-z][\w$-]*)(?:\.(?:\$ref|[a-z][\w$-]*))*$/i.test(bare)) return bare.split('.')
  throw scimError('invalidPath', `${text.slice(0, 100)} is not the name of an attribute`)
}

/** A filter of many conditions, on many lists, would block all other requests for minutes. */
const mostValues = 2_000_000

/** Whether a resource matches. Names and texts are compared without regard to case. */
export type Matcher = (resource: unknown, filter: Filter) => boolean

/**
 * Create one for each request: it counts the values that it reads.
 * @throws {ApiError} from the matcher, when the request takes too many comparisons.
 */
export function createMatcher(): Matcher {
  let left = mostValues
  const read = (resource: unknown, path: AttributePath) => {
    const values = readValues(resource, path)
    left -= values.length + 1
    if (left < 0) throw scimError('tooMany', 'The filters of the request take too many comparisons')
    return values
  }
  function matches(resource: unknown, filter: Filter): boolean {
    switch (filter.kind) {
      case 'and':
        return matches(resource, filter.left) && matches(resource, filter.right)
      case 'or':
        return matches(resource, filter.left) || matches(resource, filter.right)
      case 'not':
        return !matches(resource, filter.filter)
      case 'present':
        return read(resource, filter.path).some((value) => value !== null && value !== '')
      case 'some':
        return read(resource, filter.path).some((value) => matches(value, filter.filter))
      case 'compare': {
        const { operator, value } = filter
        const values = read(resource, filter.path)
        // An attribute that is absent is not equal to any value.
        if (operator === 'ne') return !values.some((each) => compare(each, 'eq', value))
        if (values.length === 0) return operator === 'eq' && value === null
        return values.some((each) => compare(each, operator, value))
      }
    }
  }
  return matches
}

/** All values at a path; a list counts as each of its items, and an item as its `value`. */
export function readValues(resource: unknown, path: AttributePath): readonly unknown[] {
  let values: readonly unknown[] = [resource]
  for (const name of path) {
    values = values.flatMap((value) => {
      const key = findKey(value, name)
      const found = key === undefined ? undefined : (value as Record<string, unknown>)[key]
      return found === undefined ? [] : Array.isArray(found) ? found : [found]
    })
  }
  return values
}

/** Names of attributes are compared without regard to case. */
export function findKey(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const wanted = name.toLowerCase()
  return Object.keys(value).find((key) => key.toLowerCase() === wanted)
}

function compare(given: unknown, operator: Operator, value: Literal): boolean {
  const key = findKey(given, 'value')
  const one = key === undefined ? given : (given as Record<string, unknown>)[key]
  if (typeof one !== 'string' || typeof value !== 'string') {
    return compareOrdered(one, operator, value)
  }
  const [left, right] = [one.toLowerCase(), value.toLowerCase()]
  if (operator === 'co') return left.includes(right)
  if (operator === 'sw') return left.startsWith(right)
  if (operator === 'ew') return left.endsWith(right)
  return compareOrdered(left, operator, right)
}

function compareOrdered(one: unknown, operator: Operator, other: Literal): boolean {
  if (operator === 'eq') return one === other
  if (typeof one !== typeof other || typeof other === 'boolean' || other === null) return false
  const left = one as typeof other
  if (operator === 'gt') return left > other
  if (operator === 'ge') return left >= other
  if (operator === 'lt') return left < other
  return operator === 'le' && left <= other
}

function invalid(reason: string) {
  return scimError('invalidFilter', `The filter ${reason}`)
}
