import { functions } from './functions.ts'
import type { Expression, Node } from './parse.ts'
import { TemplateError } from './template-error.ts'
import { isTrue, readField, toItems } from './values.ts'

/** The output of a template, which escapes values according to their context. */
export interface Writer {
  text(text: string): void
  value(value: unknown): void
  readonly length: number
}

interface Scope {
  readonly root: unknown
  readonly dot: unknown
}

/** No legitimate message exceeds these limits. */
const maxSteps = 100_000
const maxLength = 4_000_000

/** Evaluates the nodes. The data is only inserted and never parsed as a template. */
export function writeNodes(nodes: readonly Node[], data: unknown, writer: Writer): void {
  let steps = 0
  const writeAll = (list: readonly Node[], scope: Scope): void => {
    for (const node of list) {
      if (++steps > maxSteps) throw new TemplateError('the template has too many repetitions')
      if (writer.length > maxLength) throw new TemplateError('the message is too long')
      if (node.type === 'text') writer.text(node.text)
      else if (node.type === 'output') writer.value(evaluate(node.expression, scope))
      else blocks[node.type](node, evaluate(node.expression, scope), scope)
    }
  }
  type Block = Exclude<Node, { type: 'text' | 'output' }>
  type WriteBlock = (block: Block, value: unknown, scope: Scope) => void
  const blocks: Readonly<Record<Block['type'], WriteBlock>> = {
    if: ({ body, otherwise }, value, scope) => writeAll(isTrue(value) ? body : otherwise, scope),
    with: ({ body, otherwise }, value, scope) =>
      isTrue(value) ? writeAll(body, { ...scope, dot: value }) : writeAll(otherwise, scope),
    range: ({ body, otherwise }, value, scope) => {
      const items = toItems(value)
      for (const dot of items) {
        steps++
        writeAll(body, { ...scope, dot })
      }
      if (items.length === 0) writeAll(otherwise, scope)
    },
  }
  writeAll(nodes, { root: data, dot: data })
}

function evaluate(expression: Expression, scope: Scope): unknown {
  if (expression.type === 'literal') return expression.value
  if (expression.type === 'path') {
    const { from, names } = expression
    const start = from === 'dot' ? scope.dot : from === 'root' ? scope.root : evaluate(from, scope)
    return names.reduce(readField, start)
  }
  const { name, operands } = expression
  const logic = logics[name]
  if (logic !== undefined) return logic(operands, scope)
  return functions[name]?.call(...operands.map((operand) => evaluate(operand, scope)))
}

type Logic = (operands: readonly Expression[], scope: Scope) => unknown

/** As in Go, `and` and `or` return the operand that decided the result. */
const logics: Readonly<Record<string, Logic | undefined>> = {
  and: (operands, scope) => firstThat(operands, scope, (value) => !isTrue(value)),
  or: (operands, scope) => firstThat(operands, scope, isTrue),
  not: ([operand], scope) => operand !== undefined && !isTrue(evaluate(operand, scope)),
}

function firstThat(
  operands: readonly Expression[],
  scope: Scope,
  decides: (value: unknown) => boolean,
): unknown {
  let value: unknown
  for (const operand of operands) {
    value = evaluate(operand, scope)
    if (decides(value)) break
  }
  return value
}
