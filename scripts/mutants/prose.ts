import { isNode, type SyntaxNode } from './syntax-tree.ts'

const logMethods = new Set(['debug', 'info', 'warn', 'error', 'fatal', 'trace', 'log', 'write'])
const loggers = /^(?:log|logger|console|stderr|stdout)$/i
const proseFields = new Set([
  'message',
  'reason',
  'hint',
  'help',
  'description',
  'summary',
  'title',
])

/**
 * Whether the node is a text for people, or part of one: an error message, a log line, a
 * description. Tests should not check their exact wording.
 */
export function isProse(node: SyntaxNode, ancestors: readonly SyntaxNode[]): boolean {
  if (isSentence(node)) return true
  return [node, ...ancestors].some(
    (each) =>
      each.type === 'ThrowStatement' || isNewError(each) || isLogCall(each) || isProseField(each),
  )
}

function isSentence(node: SyntaxNode): boolean {
  const { value } = node
  return typeof value === 'string' && value.trim().split(' ').length > 3
}

function isNewError(node: SyntaxNode): boolean {
  return node.type === 'NewExpression' && /(?:Error|Failure)$/.test(toName(node['callee']))
}

function isLogCall(node: SyntaxNode): boolean {
  if (node.type !== 'CallExpression') return false
  const { callee } = node
  if (!isNode(callee)) return false
  if (callee.type !== 'MemberExpression') return loggers.test(toName(callee))
  return logMethods.has(toName(callee['property'])) && loggers.test(toName(callee['object']))
}

function isProseField(node: SyntaxNode): boolean {
  return node.type === 'Property' && proseFields.has(toName(node['key']))
}

/** The last name of `a`, `a.b` and `this.#b`. */
function toName(node: unknown): string {
  if (!isNode(node)) return ''
  if (node.type === 'MemberExpression') return toName(node['property'])
  return typeof node['name'] === 'string' ? node['name'] : ''
}
