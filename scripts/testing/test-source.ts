import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, resolve } from 'node:path'
import { type AnyNode, type CallExpression, type Expression, parse } from 'acorn'

/** The parts of a title: fixed text, and null for a computed value. */
export type TitleParts = readonly (string | null)[]

export interface TestTitle {
  /** The titles from the outermost test or suite to the test itself. */
  readonly path: readonly TitleParts[]
}

export interface TestSource {
  readonly tests: readonly TestTitle[]
  /** Whether a test takes its title from a variable, such as the rows of a table. */
  readonly hasTitlesFromData: boolean
  /** The text of each string literal and property name, without comments. */
  readonly strings: ReadonlySet<string>
  /** The templates that may become titles: those with enough fixed text to be distinguishable. */
  readonly templates: readonly TitleParts[]
  /** The files imported by a relative path. */
  readonly imports: readonly string[]
}

const importsOf = new Map<string, readonly string[]>()

/**
 * Returns the files that a file imports by a relative path. Uses a regular expression, because most of
 * these files are not parsed for anything else.
 */
export function findImports(file: string): readonly string[] {
  const known = importsOf.get(file)
  if (known !== undefined) return known
  const text = readFileSync(file, 'utf8')
  const found = [...text.matchAll(/(?:\bfrom |\bimport |\bimport\()'(\.[^']+\.ts)'/g)]
    .map(([, specifier = '']) => resolve(dirname(file), specifier))
    .filter((path) => existsSync(path))
  importsOf.set(file, found)
  return found
}

const sources = new Map<string, TestSource>()

/** Parses a test file, once per process. */
export function readSource(file: string): TestSource {
  const known = sources.get(file)
  if (known !== undefined) return known
  const tests: TestTitle[] = []
  const strings = new Set<string>()
  const templates: TitleParts[] = []
  let hasTitlesFromData = false

  const visit = (node: AnyNode, outer: readonly TitleParts[]) => {
    let path = outer
    if (node.type === 'Literal' && typeof node.value === 'string') strings.add(node.value)
    if (node.type === 'TemplateLiteral') {
      const parts = toParts(node)
      const letters = parts.join('').match(/\p{L}/gu)?.length ?? 0
      if (node.expressions.length === 0) strings.add(parts.join(''))
      else if (letters >= 10) templates.push(parts)
    }
    if (node.type === 'Property' && node.key.type === 'Identifier' && !node.computed) {
      strings.add(node.key.name)
    }
    if (node.type === 'CallExpression' && isTestCall(node)) {
      const [title] = node.arguments
      const parts = title === undefined || title.type === 'SpreadElement' ? [] : toParts(title)
      if (parts.some((part) => part !== null && part.trim() !== '')) {
        path = [...outer, parts]
        tests.push({ path })
      } else {
        hasTitlesFromData = true
      }
    }
    for (const child of childrenOf(node)) visit(child, path)
  }

  const text = stripTypeScriptTypes(readFileSync(file, 'utf8'))
  visit(parse(text, { ecmaVersion: 'latest', sourceType: 'module' }), [])
  const source = { tests, strings, templates, hasTitlesFromData, imports: findImports(file) }
  sources.set(file, source)
  return source
}

const testNames = new Set(['test', 'it', 'describe', 'suite'])

/** `test(title, …, function)`, also as `t.test`; neither `test.skip` nor `pattern.test(text)`. */
function isTestCall({ callee, arguments: args }: CallExpression): boolean {
  const isNamed =
    callee.type === 'MemberExpression'
      ? callee.property.type === 'Identifier' && callee.property.name === 'test'
      : callee.type === 'Identifier' && testNames.has(callee.name)
  return isNamed && args.length >= 2 && !args.some(isAlwaysSkipped)
}

/** `{ skip: true }` or `{ todo: 'later' }`; with a condition the test may run. */
function isAlwaysSkipped(node: AnyNode): boolean {
  return (
    node.type === 'ObjectExpression' &&
    node.properties.some(
      (property) =>
        property.type === 'Property' &&
        property.key.type === 'Identifier' &&
        ['skip', 'todo'].includes(property.key.name) &&
        property.value.type === 'Literal' &&
        Boolean(property.value.value),
    )
  )
}

function toParts(title: Expression): TitleParts {
  if (title.type === 'Literal' && typeof title.value === 'string') return [title.value]
  if (title.type === 'TemplateLiteral') {
    return title.quasis.flatMap(({ value, tail }) => [value.cooked ?? '', ...(tail ? [] : [null])])
  }
  if (title.type === 'BinaryExpression' && title.left.type !== 'PrivateIdentifier') {
    return [...toParts(title.left), ...toParts(title.right)]
  }
  return [null]
}

function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node).flatMap((value: unknown) => {
    const values: unknown[] = Array.isArray(value) ? value : [value]
    return values.filter(isNode)
  })
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
