import { join } from 'node:path'
import type { Mutant } from './mutant.ts'
import { isProse } from './prose.ts'
import { isNode, parseModule, type SyntaxNode, walk } from './syntax-tree.ts'

/** A replacement of a part of the code. */
interface Change {
  readonly start: number
  readonly end: number
  readonly replacement: string
  readonly description: string
}

type Operator = (node: SyntaxNode, code: string, ancestors: readonly SyntaxNode[]) => Change[]

/** Every mutant of a file, in the order of the code. */
export function findMutants(root: string, file: string): Mutant[] {
  const { code, program } = parseModule(join(root, file))
  const changes = new Map<string, Change>()
  walk(program, (node, ancestors) => {
    for (const change of operators[node.type]?.(node, code, ancestors) ?? []) {
      changes.set(`${change.start}-${change.end}-${change.replacement}`, change)
    }
  })
  return [...changes.values()]
    .sort((a, b) => a.start - b.start || a.end - b.end)
    .map((change) => ({ file, ...change, ...toPosition(code, change.start) }))
}

function toPosition(code: string, offset: number) {
  const before = code.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
}

/** Comparisons are changed to their other boundary and to their opposite. */
const otherOperators: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '==': ['!='],
  '!=': ['=='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&': ['|'],
  '|': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '/=': ['*='],
}

const operators: Readonly<Record<string, Operator>> = {
  BinaryExpression: swapOperator,
  LogicalExpression: swapOperator,
  AssignmentExpression: swapOperator,
  UnaryExpression: (node, code) => removeNegation(node, code),
  UpdateExpression: (node) => {
    const [from, to] = node['operator'] === '++' ? ['++', '--'] : ['--', '++']
    const start = node['prefix'] ? node.start : node.end - 2
    return [{ start, end: start + 2, replacement: to, description: `${from} → ${to}` }]
  },
  Literal: changeLiteral,
  TemplateLiteral: (node, code, ancestors) =>
    ancestors[0]?.type === 'TaggedTemplateExpression' || isProse(node, ancestors)
      ? []
      : [replace(node, code, '``')],
  ReturnStatement: (node, code) => dropValue(node['argument'], code),
  ArrowFunctionExpression: (node, code) =>
    node['expression'] ? dropValue(node['body'], code) : [],
  ExpressionStatement: removeCall,
  IfStatement: (node, code) => [
    ...decide(node['test'], code, ['true', 'false']),
    // Without an else, an empty block is equivalent to a false condition.
    ...(node['alternate'] ? emptyBlock(node['consequent'], code) : []),
    ...emptyBlock(node['alternate'], code),
  ],
  ConditionalExpression: (node, code) => decide(node['test'], code, ['true', 'false']),
  // The condition `true` would only show that the test has a time limit.
  WhileStatement: (node, code) => decide(node['test'], code, ['false']),
  ForStatement: (node, code) => decide(node['test'], code, ['false']),
}

function replace(node: SyntaxNode, code: string, replacement: string): Change {
  const description = `${shorten(code.slice(node.start, node.end))} → ${replacement}`
  return { start: node.start, end: node.end, replacement, description }
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 50 ? `${line.slice(0, 49)}…` : line
}

function swapOperator(node: SyntaxNode, code: string): Change[] {
  const { left, right, operator } = node
  if (!isNode(left) || !isNode(right) || typeof operator !== 'string') return []
  // Subtracting strings gives NaN, which every test notices.
  if (operator.startsWith('+') && [left, right].some(isText)) return []
  const start = findOperator(code, left.end, right.start, operator)
  return (otherOperators[operator] ?? []).map((replacement) => ({
    start,
    end: start + operator.length,
    replacement,
    description: `${operator} → ${replacement}`,
  }))
}

/** Between the operands there may also be parentheses and comments. */
function findOperator(code: string, from: number, to: number, operator: string): number {
  const between = code
    .slice(from, to)
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, (comment) => ' '.repeat(comment.length))
  return from + between.indexOf(operator)
}

function isText(node: SyntaxNode): boolean {
  if (node.type === 'TemplateLiteral') return true
  if (node.type === 'Literal') return typeof node['value'] === 'string'
  return (
    node.type === 'BinaryExpression' &&
    [node['left'], node['right']].some((side) => isNode(side) && isText(side))
  )
}

function removeNegation(node: SyntaxNode, code: string): Change[] {
  const { operator, argument } = node
  if ((operator !== '!' && operator !== '-') || !isNode(argument)) return []
  // The number itself is changed too, and detecting one change means detecting the other.
  if (operator === '-' && argument.type === 'Literal') return []
  const description = `${shorten(code.slice(node.start, node.end))} without ${operator}`
  return [{ start: node.start, end: node.start + 1, replacement: ' ', description }]
}

function changeLiteral(node: SyntaxNode, code: string, ancestors: readonly SyntaxNode[]): Change[] {
  const { value, bigint, regex } = node
  const [parent] = ancestors
  const isName = parent?.['key'] === node && !parent['computed']
  if (isName || regex || /^(Import|Export)/.test(parent?.type ?? '')) return []
  if (typeof value === 'boolean') return [replace(node, code, String(!value))]
  if (typeof value === 'number') {
    return [replace(node, code, `${value + 1}`), replace(node, code, `(${value - 1})`)]
  }
  if (typeof bigint === 'string') return [replace(node, code, `${BigInt(bigint) + 1n}n`)]
  if (typeof value !== 'string' || value === '' || isProse(node, ancestors)) return []
  // The opposite comparison is already a mutant.
  if (parent?.type === 'BinaryExpression' && isTypeof(parent)) return []
  return [replace(node, code, "''")]
}

function isTypeof(comparison: SyntaxNode): boolean {
  const { left } = comparison
  return isNode(left) && left.type === 'UnaryExpression' && left['operator'] === 'typeof'
}

function dropValue(value: unknown, code: string): Change[] {
  if (!isNode(value) || value.type === 'Literal') return []
  const text = code.slice(value.start, value.end)
  if (text === 'undefined') return []
  // The value of a call that is made for its effect is not used.
  if (value.type === 'UnaryExpression' && value['operator'] === 'void') return []
  return [replace(value, code, 'undefined')]
}

function removeCall(node: SyntaxNode, code: string, ancestors: readonly SyntaxNode[]): Change[] {
  const expression = unwrap(node['expression'])
  if (expression?.type !== 'CallExpression') return []
  const callee = expression['callee']
  if (isNode(callee) && callee.type === 'Super') return []
  if (isProse(expression, [...ancestors])) return []
  const description = `removed ${shorten(code.slice(node.start, node.end))}`
  return [{ start: node.start, end: node.end, replacement: ';', description }]
}

/** The expression after `await` and `void`. */
function unwrap(expression: unknown): SyntaxNode | undefined {
  if (!isNode(expression)) return undefined
  const isWrapper = expression.type === 'AwaitExpression' || expression['operator'] === 'void'
  return isWrapper ? unwrap(expression['argument']) : expression
}

function decide(test: unknown, code: string, values: readonly string[]): Change[] {
  if (!isNode(test) || test.type === 'Literal') return []
  return values.map((value) => replace(test, code, value))
}

function emptyBlock(block: unknown, code: string): Change[] {
  if (!isNode(block) || block.type === 'IfStatement') return []
  if (Array.isArray(block['body']) && block['body'].length === 0) return []
  return [replace(block, code, '{}')]
}
