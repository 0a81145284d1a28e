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
import { isMap, isScalar, parseDocument } from 'yaml'
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
 * Replaces the number and the unit of a limit in the text of its rule file, so that comments and layout stay. The
 * result is used only if exactly this limit differs: other rules may use the same limit through an alias.
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
  const changed = replaceLimit(text, node.place, { requestsPerUnit, unit })
  if (node.limit !== undefined && changed !== undefined) {
    const limit: RuleTreeLimit = {
      ...node.limit,
      requestsPerUnit,
      unit: unit.name,
      windowSeconds: unit.seconds,
    }
    const wanted = before.map((each) => (each === node ? { ...each, limit } : each)).map(toContent)
    const { rules, findings } = checkRules(withText(directory, file, changed))
    const isWanted =
      !findings.some(({ severity }) => severity === 'fault') &&
      isDeepStrictEqual(toNodes(rules).map(toContent), wanted)
    if (isWanted) {
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

/** Returns undefined if the rule has no plain number and unit, for example because its limit is an alias. */
function replaceLimit(
  text: string,
  place: RuleTreeNode['place'],
  { requestsPerUnit, unit }: NewLimit,
): string | undefined {
  const start = findLine(text, place.line)
  // The map keeps its indentation, so positions in it differ from those in the file only by the start of its line.
  const before = place.column - 1
  const map = ' '.repeat(before) + text.slice(start + before, findEnd(text, start, before))
  const { contents } = parseDocument(map)
  const limit = isMap(contents) ? contents.get('rate_limit') : undefined
  if (!isMap(limit)) return undefined
  const number = limit.get('requests_per_unit', true)
  const name = limit.get('unit', true)
  if (!isScalar(number) || !isScalar(name)) return undefined
  const changes = [
    { at: number.range, value: `${requestsPerUnit}` },
    { at: name.range, value: unit.name.toLowerCase() },
  ].toSorted((a, b) => (b.at?.[0] ?? 0) - (a.at?.[0] ?? 0))
  let changed = text
  for (const { at, value } of changes) {
    if (!at) return undefined
    changed = changed.slice(0, start + at[0]) + value + changed.slice(start + at[1])
  }
  return changed
}

function findLine(text: string, line: number): number {
  let at = 0
  for (let number = 1; number < line; number += 1) at = text.indexOf('\n', at) + 1
  return at
}

/** Finds the end of a map in block style: the next line with content that is indented less. */
function findEnd(text: string, start: number, indentation: number): number {
  const nextLine = new RegExp(`\\n(?! {${indentation}}|\\s*(?:#|\\r?\\n|$))`, 'g')
  nextLine.lastIndex = start
  return nextLine.exec(text)?.index ?? text.length
}
