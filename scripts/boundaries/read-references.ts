import { join } from 'node:path/posix'
import { type ParserPlugin, parse } from '@babel/parser'

/** A reference to a module, with its position. */
export interface Reference extends Place {
  /** The specifier as written; undefined if it is computed at run time. */
  readonly specifier: string | undefined
  /** Whether it is erased before the code runs. */
  readonly isTypeOnly: boolean
  /**
   * Whether it is started by its path, as a thread or a process: it is not loaded here, and closes
   * no cycle.
   */
  readonly isProgram: boolean
}

export interface EnvironmentAccess extends Place {
  readonly isWrite: boolean
}

/** Line and column, both counted from 1, as in editors. */
export interface Place {
  readonly line: number
  readonly column: number
}

export interface ModuleReferences {
  readonly references: readonly Reference[]
  readonly environment: readonly EnvironmentAccess[]
}

interface SyntaxNode {
  readonly type: string
  readonly loc: { readonly start: { readonly line: number; readonly column: number } }
  readonly [field: string]: unknown
}

export function readReferences(file: string, source: string): ModuleReferences {
  const references: Reference[] = []
  const environment: EnvironmentAccess[] = []
  const visit = (node: SyntaxNode, ancestors: readonly SyntaxNode[]) => {
    const found = findReference(node, file)
    if (found) references.push({ ...found.reference, ...toPlace(found.node) })
    if (isEnvironment(node)) {
      environment.push({ ...toPlace(node), isWrite: isWritten(node, ancestors) })
    }
  }
  const statements = parseHead(file, source)
  if (statements) for (const statement of statements) visit(statement, [])
  else for (const statement of parseStatements(file, source)) walk(statement, [], visit)
  return { references, environment }
}

/** The statements up to the last import of a module that imports only at its top. */
function parseHead(file: string, source: string): SyntaxNode[] | undefined {
  const head = findHead(source)
  if (head === undefined) return undefined
  try {
    return parseStatements(file, head)
  } catch {
    // The last match is in a comment or a string.
    return undefined
  }
}

function parseStatements(file: string, source: string): SyntaxNode[] {
  const plugins: ParserPlugin[] = ['typescript', 'explicitResourceManagement']
  if (file.endsWith('x')) plugins.push('jsx')
  const { program } = parse(source, { sourceType: 'module', plugins, attachComment: false })
  return toNodes(program.body)
}

/**
 * Parsing takes most of the time of this check, and most modules import only at their top, so the
 * text up to the last static import is enough for them. Undefined if the whole text is needed.
 */
function findHead(source: string): string | undefined {
  if (/\bimport\s*[(.]|\brequire\b/.test(source)) return undefined
  if (/\bprocess\b/.test(source) && /\benv\b/.test(source)) return undefined
  const last = [...source.matchAll(/\b(?:from|import)\s*['"].*$/gm)].at(-1)
  return last ? source.slice(0, last.index + last[0].length) : ''
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'loc' in value
}

/** Visits every node with its ancestors, the nearest one last. */
function walk(
  node: SyntaxNode,
  ancestors: SyntaxNode[],
  visit: (node: SyntaxNode, ancestors: readonly SyntaxNode[]) => void,
): void {
  visit(node, ancestors)
  ancestors.push(node)
  for (const field in node) {
    const value = node[field]
    if (isNode(value)) walk(value, ancestors, visit)
    else if (Array.isArray(value)) {
      for (const child of value) if (isNode(child)) walk(child, ancestors, visit)
    }
  }
  ancestors.pop()
}

function toPlace({ loc }: SyntaxNode): Place {
  return { line: loc.start.line, column: loc.start.column + 1 }
}

interface FoundReference {
  readonly reference: Omit<Reference, keyof Place>
  readonly node: SyntaxNode
}

function findReference(node: SyntaxNode, file: string): FoundReference | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return toReference(node['source'], isOfTypesOnly(node))
    case 'TSImportType':
      return toReference(node['argument'], true)
    case 'TSExternalModuleReference':
      return toReference(node['expression'])
    case 'CallExpression':
      return findCalledReference(node)
    case 'NewExpression':
      return findUrl(node, file)
    default:
      return undefined
  }
}

/** True for `import type …`, or if every name in the braces is a type. */
function isOfTypesOnly(node: SyntaxNode): boolean {
  if (node['importKind'] === 'type' || node['exportKind'] === 'type') return true
  const names = toNodes(node['specifiers'])
  return (
    names.length > 0 &&
    names.every((name) => name['importKind'] === 'type' || name['exportKind'] === 'type')
  )
}

function toReference(node: unknown, isTypeOnly = false): FoundReference | undefined {
  if (!isNode(node)) return undefined
  return { reference: { specifier: readText(node), isTypeOnly, isProgram: false }, node }
}

function findCalledReference(node: SyntaxNode): FoundReference | undefined {
  const callee = node['callee']
  if (!isNode(callee)) return undefined
  const args = toNodes(node['arguments'])
  if (callee.type === 'Import' || isName(callee, 'require') || isCallOf(callee, 'createRequire')) {
    return toReference(args[0])
  }
  if (isMember(callee, 'resolve') && isMeta(callee['object'])) return findProgram(args[0])
  const [folder, ...names] = args
  if ((isName(callee, 'join') || isName(callee, 'resolve')) && isMetaMember(folder, 'dirname')) {
    const texts = names.map(readText)
    const path = texts.every((text) => text !== undefined) ? `./${join(...texts)}` : undefined
    return toProgram(path, names[0])
  }
  return undefined
}

function findUrl(node: SyntaxNode, file: string): FoundReference | undefined {
  const [path, base] = toNodes(node['arguments'])
  if (!isName(node['callee'], 'URL') || !isMetaMember(base, 'url') || !path) return undefined
  return toProgram(readPath(path, file), path)
}

function findProgram(node: SyntaxNode | undefined): FoundReference | undefined {
  return node && toProgram(readText(node), node)
}

/** Only paths of code; other files are data. */
function toProgram(
  path: string | undefined,
  node: SyntaxNode | undefined,
): FoundReference | undefined {
  if (!node || !path || !/\.[cm]?[jt]sx?$/.test(path)) return undefined
  return { reference: { specifier: path, isTypeOnly: false, isProgram: true }, node }
}

/** A path may end in the extension of the module itself: `./worker${extname(import.meta.filename)}`. */
function readPath(node: SyntaxNode, file: string): string | undefined {
  const [first, rest] = toNodes(node['quasis'])
  if (!first || !rest) return readText(node)
  return `${readQuasi(first)}${/\.\w+$/.exec(file)?.[0]}`
}

function readText(node: SyntaxNode): string | undefined {
  if (node.type === 'StringLiteral') return String(node['value'])
  if (node.type === 'TSLiteralType' && isNode(node['literal'])) return readText(node['literal'])
  const [first, rest] = toNodes(node['quasis'])
  return first && !rest ? readQuasi(first) : undefined
}

function readQuasi(node: SyntaxNode): string {
  const value = node['value']
  return typeof value === 'object' && value && 'cooked' in value ? String(value.cooked) : ''
}

/** `process.env`, `process['env']`, `const { env } = process` and `import { env } from 'node:process'`. */
function isEnvironment(node: SyntaxNode): boolean {
  if (node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression') {
    return isMember(node, 'env') && isProcess(node['object'])
  }
  if (node.type === 'VariableDeclarator') {
    return isProcess(node['init']) && toProperties(node['id']).some((each) => isKey(each, 'env'))
  }
  if (node.type === 'ImportDeclaration' && isNode(node['source'])) {
    const isOfProcess = /^(?:node:)?process$/.test(readText(node['source']) ?? '')
    return (
      isOfProcess && toNodes(node['specifiers']).some((each) => isName(each['imported'], 'env'))
    )
  }
  return node.type === 'CallExpression' && isEnvironmentLoader(node['callee'])
}

/** True for `process.loadEnvFile`, which loads a file into `process.env`. */
function isEnvironmentLoader(callee: unknown): boolean {
  return isMember(callee, 'loadEnvFile') && isProcess(callee['object'])
}

function isProcess(node: unknown): boolean {
  return (
    isName(node, 'process') || (isMember(node, 'process') && isName(node['object'], 'globalThis'))
  )
}

function isWritten(node: SyntaxNode, ancestors: readonly SyntaxNode[]): boolean {
  if (node.type === 'CallExpression') return true
  let target = node
  for (const parent of ancestors.toReversed()) {
    if (parent.type === 'AssignmentExpression') return parent['left'] === target
    if (parent.type === 'UpdateExpression') return true
    if (parent.type === 'UnaryExpression') return parent['operator'] === 'delete'
    if (parent.type === 'CallExpression') {
      return toNodes(parent['arguments'])[0] === target && changesFirstArgument(parent['callee'])
    }
    if (!isMember(parent) || parent['object'] !== target) return false
    target = parent
  }
  return false
}

function changesFirstArgument(callee: unknown): boolean {
  const names = ['assign', 'defineProperty', 'defineProperties', 'set', 'deleteProperty']
  return isMember(callee) && names.some((name) => isMember(callee, name))
}

function isMetaMember(node: unknown, name: string): boolean {
  return isMember(node, name) && isMeta(node['object'])
}

function isMeta(node: unknown): boolean {
  return isNode(node) && node.type === 'MetaProperty'
}

function isMember(node: unknown, name?: string): node is SyntaxNode {
  if (!isNode(node) || !/^(?:Optional)?MemberExpression$/.test(node.type)) return false
  return name === undefined || isKey(node, name)
}

/** The key of a property, or the name of a member, in either notation. */
function isKey(node: SyntaxNode, name: string): boolean {
  const key = node['property'] ?? node['key']
  return isName(key, name) || (isNode(key) && readText(key) === name)
}

function isCallOf(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'CallExpression' && isName(node['callee'], name)
}

function isName(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'Identifier' && node['name'] === name
}

function toProperties(pattern: unknown): SyntaxNode[] {
  return isNode(pattern) ? toNodes(pattern['properties']) : []
}

function toNodes(value: unknown): SyntaxNode[] {
  return Array.isArray(value) ? value.filter(isNode) : []
}
