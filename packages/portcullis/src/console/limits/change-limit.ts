import { isDeepStrictEqual } from 'node:util'
import {
  checkRules,
  type RuleDirectory,
  type RuleSet,
  type RuleTreeLimit,
  type RuleTreeNode,
  toLimitText,
  toRuleTree,
  type Unit,
  unitByName,
} from '@portcullis/ratelimit/rules'
import { toQuestion } from '@portcullis/service-kit/text/similar-names'
import { ConsoleError } from '../errors.ts'
import { withText } from './rule-files.ts'

export { unitByName }

export interface NewLimit {
  readonly requestsPerUnit: number
  readonly unit: Unit
}

/** A rule file in which the limit of one rule has another value. */
export interface ChangedLimit {
  readonly file: string
  readonly line: number
  readonly text: string
  /** Human-readable, such as `5 per minute`. */
  readonly before: string
  readonly after: string
}

/**
 * Replaces the number and the unit of a limit in the text of its rule file, so that comments and layout stay. A
 * replacement is used only if exactly this limit differs afterwards.
 * @param path Of the rule, such as `graphql.user`.
 * @throws {ConsoleError} if the rule does not exist, or its limit cannot be changed in this way.
 */
export function changeLimit(
  directory: RuleDirectory,
  path: string,
  { requestsPerUnit, unit }: NewLimit,
): ChangedLimit {
  const before = readRules(directory)
  const node = requireRule(before, path)
  const { file, line } = node.place
  const text = directory.files.find(({ name }) => name === file)?.text ?? ''
  if (node.limit !== undefined) {
    const limit: RuleTreeLimit = {
      ...node.limit,
      requestsPerUnit,
      unit: unit.name,
      windowSeconds: unit.seconds,
    }
    const wanted = before.map((each) => (each === node ? { ...each, limit } : each)).map(toContent)
    for (const changed of proposeTexts(text, line, requestsPerUnit, unit)) {
      const { rules, findings } = checkRules(withText(directory, file, changed))
      if (findings.some(({ severity }) => severity === 'fault')) continue
      if (!isDeepStrictEqual(toNodes(rules).map(toContent), wanted)) continue
      return { file, line, text: changed, before: describe(node.limit), after: describe(limit) }
    }
  }
  const reason = node.limit === undefined ? 'The rule has no limit' : 'The limit cannot be replaced'
  throw new ConsoleError(
    422,
    'limit_not_changed',
    `${reason}. Edit the rule ${path} in ${file}, line ${line}.`,
  )
}

/** All rules in the order of the files. @throws {ConsoleError} if the files contain an error. */
function readRules(directory: RuleDirectory): readonly RuleTreeNode[] {
  const { rules, findings } = checkRules(directory)
  const fault = findings.find(({ severity }) => severity === 'fault')
  if (fault === undefined) return toNodes(rules)
  const where = fault.line === undefined ? fault.file : `${fault.file}, line ${fault.line}`
  throw new ConsoleError(
    422,
    'rule_faults',
    `The rule files contain an error: ${where}: ${fault.message}.`,
  )
}

function toNodes(rules: RuleSet): readonly RuleTreeNode[] {
  return toRuleTree(rules).flatMap(({ rules: top }) => top.flatMap(toList))
}

function toList(node: RuleTreeNode): readonly RuleTreeNode[] {
  return [node, ...node.rules.flatMap(toList)]
}

const mostNamed = 20

function requireRule(nodes: readonly RuleTreeNode[], path: string): RuleTreeNode {
  const [found, other] = nodes.filter((node) => node.path === path)
  if (found === undefined) {
    const known = nodes.filter(({ limit }) => limit !== undefined).map((node) => node.path)
    const more = known.length > mostNamed ? ', …' : '.'
    const message = `There is no rule ${JSON.stringify(path)}. Rules with a limit: ${known.slice(0, mostNamed).join(', ')}${more}`
    throw new ConsoleError(404, 'no_such_rule', `${message}${toQuestion(path, known)}`)
  }
  if (other === undefined) return found
  const places = [found, other].map(({ place }) => `${place.file}, line ${place.line}`)
  const message = `Two rules have the name ${path}: ${places.join(' and ')}. Edit the file.`
  throw new ConsoleError(422, 'limit_not_changed', message)
}

/** Everything about a rule except its place, since columns change with the number of digits. */
function toContent({ place: _, rules: __, ...content }: RuleTreeNode) {
  return content
}

function describe(limit: RuleTreeLimit): string {
  return toLimitText({ ...limit, unit: unitByName(limit.unit ?? '') })
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Proposes texts with another number and unit, beginning with those at the rule. */
function* proposeTexts(
  text: string,
  line: number,
  requestsPerUnit: number,
  unit: Unit,
): Generator<string, void> {
  const start = findLine(text, line)
  const units = findValues(text, start, 'unit')
  for (const number of findValues(text, start, 'requests_per_unit')) {
    const distance = (span: Span) => Math.abs(span.start - number.start)
    // The unit is in the same map, directly before or after the number or a few fields away.
    const near = units.toSorted((a, b) => distance(a) - distance(b)).slice(0, 2)
    for (const name of near) {
      yield replaceAll(text, [
        [number, `${requestsPerUnit}`],
        [name, unit.name.toLowerCase()],
      ])
    }
  }
}

function findLine(text: string, line: number): number {
  let at = 0
  for (let number = 1; number < line; number += 1) at = text.indexOf('\n', at) + 1
  return at
}

/** Finds the plain or quoted values of a key, in block or flow style. */
function findValues(text: string, start: number, key: string): Span[] {
  const pattern = new RegExp(`(?<![\\w-])["']?${key}["']?\\s*:\\s+["']?(\\w+)`, 'dg')
  pattern.lastIndex = start
  return Array.from(text.matchAll(pattern), ({ indices }) => {
    const [first = 0, last = 0] = indices?.[1] ?? []
    return { start: first, end: last }
  })
}

function replaceAll(text: string, changes: readonly (readonly [Span, string])[]): string {
  const fromEnd = changes.toSorted(([a], [b]) => b.start - a.start)
  let changed = text
  for (const [{ start, end }, value] of fromEnd) {
    changed = changed.slice(0, start) + value + changed.slice(end)
  }
  return changed
}
