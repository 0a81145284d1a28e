import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { parse } from 'acorn'

/** A node of acorn's tree; other fields depend on its type. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export interface ParsedModule {
  /** The text without types, which are replaced by spaces, so that offsets match the file. */
  readonly code: string
  readonly program: SyntaxNode
}

export function parseModule(file: string): ParsedModule {
  const source = readFileSync(file, 'utf8')
  const code = stripTypes(source)
  if (code.length !== source.length) {
    throw new Error(`${file}: stripping the types moved the code, so offsets cannot be used.`)
  }
  const tree = parse(code, { ecmaVersion: 'latest', sourceType: 'module' })
  if (!isNode(tree)) throw new Error(`${file}: acorn returned no syntax tree.`)
  return { code, program: tree }
}

/**
 * `stripTypeScriptTypes` is experimental and prints a warning at its first call, which would only
 * distract users of this tool.
 */
function stripTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source, { mode: 'strip' })
  } finally {
    process.emitWarning = emitWarning
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** Visits every node with its ancestors, the nearest one first. */
export function walk(
  node: SyntaxNode,
  visit: (node: SyntaxNode, ancestors: readonly SyntaxNode[]) => void,
  ancestors: readonly SyntaxNode[] = [],
): void {
  visit(node, ancestors)
  const inner = [node, ...ancestors]
  for (const child of Object.values(node).flat()) {
    if (isNode(child)) walk(child, visit, inner)
  }
}
