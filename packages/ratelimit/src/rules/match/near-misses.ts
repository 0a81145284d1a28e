import { findSimilarName } from '@portcullis/service-kit/text/similar-names'
import { noRow, type RuleTable } from '../../hot/index.ts'
import type { Entry } from '../../protocol/message.ts'
import { toLevel } from '../../stats/statistics-key.ts'
import { RuleNode, Siblings } from './tree.ts'

/** The point where the search for a descriptor ended without a limit. */
interface DeadEnd {
  readonly top: Siblings
  readonly entries: readonly Entry[]
  /** The last rule that matched. */
  readonly node: RuleNode | undefined
  /** The rules below it. */
  readonly siblings: Siblings | undefined
  /** The entry without a matching rule; undefined if all have one. */
  readonly entry: Entry | undefined
}

interface Search extends DeadEnd {
  /** Returns the rule of a descriptor with these entries. */
  readonly findRule: (entries: readonly Entry[]) => RuleNode | undefined
}

/** Each detects one common mistake and says how to correct it. */
const finders: readonly ((search: Search) => string | undefined)[] = [
  findNoEntries,
  findTooFewEntries,
  findTooManyEntries,
  findOtherSpelling,
  findOtherValues,
  findOtherKeys,
  findOtherOrder,
  findWayBack,
  findOtherLevel,
]

/** Finds rules that would have limited a similar descriptor. */
export function findNearMisses(
  table: RuleTable,
  name: string,
  entries: readonly Entry[],
): string[] {
  const domain = table.findDomain(name)
  if (domain === noRow) return [describeDomains(table.domainNames(), name)]
  const end = findDeadEnd(new Siblings(table, domain), entries)
  const findRule = (order: readonly Entry[]) => {
    const row = table.find(domain, order)
    return row === noRow ? undefined : new RuleNode(table, row)
  }
  return finders.map((find) => find({ ...end, findRule })).filter((hint) => hint !== undefined)
}

function describeDomains(known: readonly string[], domain: string): string {
  if (known.length === 0) return 'no domain is configured at all'
  const alike = known.find((name) => isAlike(name, domain))
  if (alike !== undefined) return `there is a domain '${alike}': domains are case-sensitive`
  const subject = known.length === 1 ? 'only domain is' : 'domains are'
  return `the ${subject} ${toShortList(known)}${toQuestion(domain, known)}`
}

function findDeadEnd(top: Siblings, entries: readonly Entry[]): DeadEnd {
  let node: RuleNode | undefined
  let siblings: Siblings | undefined = top
  for (const entry of entries) {
    const found: RuleNode | undefined = siblings?.find(entry.key, entry.value)
    if (found === undefined) return { top, entries, node, siblings, entry }
    node = found
    siblings = found.children
  }
  return { top, entries, node, siblings, entry: undefined }
}

function findNoEntries({ entries }: DeadEnd): string | undefined {
  return entries.length === 0 ? 'a descriptor without entries matches no rule' : undefined
}

function findTooFewEntries({ entry, node, siblings }: DeadEnd): string | undefined {
  if (entry !== undefined || node === undefined || siblings === undefined) return undefined
  const nested = toShortList(levelsOf(siblings))
  return `'${node.path}' itself has no limit: send one more entry, for one of ${nested}`
}

function findTooManyEntries({ entry, node, siblings, entries }: DeadEnd): string | undefined {
  if (entry === undefined || node === undefined || siblings !== undefined) return undefined
  return (
    `'${node.path}' is the last level of its rules: it limits descriptors with ` +
    `${count(node.depth, 'entry', 'entries')}, and this one has ${entries.length}`
  )
}

function findOtherSpelling({ entry, siblings }: DeadEnd): string | undefined {
  if (entry === undefined || siblings === undefined) return undefined
  for (const [key, rules] of siblings.byKey) {
    if (!isAlike(key, entry.key)) continue
    if (key !== entry.key) return `there is a rule with the key '${key}': keys are case-sensitive`
    for (const value of rules.byValue.keys()) {
      if (isAlike(value, entry.value)) {
        return `there is a rule '${toLevel(key, value)}': values are case-sensitive`
      }
    }
  }
  return undefined
}

function findOtherValues({ entry, siblings }: DeadEnd): string | undefined {
  const values = entry && siblings?.get(entry.key)?.byValue.keys()
  if (values === undefined) return undefined
  return `the rules with the key '${entry?.key}' have the values ${toShortList([...values])}`
}

function findOtherKeys({ entry, siblings, node }: DeadEnd): string | undefined {
  if (entry === undefined || siblings === undefined || siblings.byKey.has(entry.key))
    return undefined
  const place = node === undefined ? 'at the top level' : `below '${node.path}'`
  const keys = [...siblings.byKey.keys()]
  const subject = keys.length === 1 ? `only key ${place} is` : `keys ${place} are`
  return `the ${subject} ${toShortList(keys)}${toQuestion(entry.key, keys)}`
}

/** With more entries, trying all permutations would take too long. */
const mostEntriesToReorder = 6

function findOtherOrder({ findRule, entries }: Search): string | undefined {
  if (entries.length < 2 || entries.length > mostEntriesToReorder) return undefined
  for (const order of ordersOf(entries)) {
    const rule = findRule(order)
    if (!rule?.hasLimit) continue
    const keys = order.map(({ key }) => key).join(', ')
    return `in the order ${keys} the rule '${rule.path}' matches: the order of entries matters`
  }
  return undefined
}

/** Finds a limit that a search with backtracking would have found. */
function findWayBack({ top, entries }: DeadEnd): string | undefined {
  const missed = searchAll(top, entries, 0)
  if (missed === undefined) return undefined
  return (
    `'${missed.path}' would match, but is not tried: a level takes the exact value before a ` +
    'pattern, and a pattern before the key alone, and there is no backtracking when nothing below matches'
  )
}

function searchAll(
  siblings: Siblings | undefined,
  entries: readonly Entry[],
  at: number,
): RuleNode | undefined {
  const entry = entries[at]
  const rules = entry && siblings?.get(entry.key)
  if (entry === undefined || rules === undefined) return undefined
  const choices = [rules.byValue.get(entry.value), rules.findPattern(entry.value), rules.any]
  for (const choice of choices) {
    if (choice === undefined) continue
    const isLast = at === entries.length - 1
    const found = isLast ? choice : searchAll(choice.children, entries, at + 1)
    if (found?.hasLimit) return found
  }
  return undefined
}

function findOtherLevel({ top, entry, siblings }: DeadEnd): string | undefined {
  if (entry === undefined || siblings?.byKey.has(entry.key)) return undefined
  const paths: string[] = []
  collectPaths(top, entry.key, paths)
  if (paths.length === 0) return undefined
  return `the key '${entry.key}' is used elsewhere: ${toShortList(paths, 3)}`
}

function collectPaths(siblings: Siblings, key: string, paths: string[]): void {
  for (const [name, rules] of siblings.byKey) {
    for (const node of rules.all()) {
      if (name === key) paths.push(node.path)
      const { children } = node
      if (children !== undefined) collectPaths(children, key, paths)
    }
  }
}

function levelsOf(siblings: Siblings): string[] {
  return [...siblings.byKey].flatMap(([key, rules]) => [
    ...[...rules.byValue.keys()].map((value) => toLevel(key, value)),
    ...(rules.any === undefined ? [] : [key]),
  ])
}

function* ordersOf<Item>(items: readonly Item[]): Generator<Item[]> {
  if (items.length === 0) yield []
  for (const [index, first] of items.entries()) {
    for (const rest of ordersOf(items.toSpliced(index, 1))) yield [first, ...rest]
  }
}

function toQuestion(name: string, known: readonly string[]): string {
  const meant = findSimilarName(name, known)
  return meant === undefined ? '' : `: did you mean '${meant}'?`
}

function isAlike(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`
}

/** Formats the first few of many texts, quoted, for a sentence. */
export function toShortList(texts: readonly string[], most = 5): string {
  const shown = texts.slice(0, most).map((text) => `'${text}'`)
  const rest = texts.length - shown.length
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ')
}
