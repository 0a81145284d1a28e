import type { Entry } from '../protocol/message.ts'
import { toShortList } from './short-list.ts'
import { toLevel } from './statistics-key.ts'
import { depthOf, findRule, type RuleNode, type Siblings } from './tree.ts'

/** Where the walk of a descriptor ended without a limit. */
interface DeadEnd {
  readonly top: Siblings
  readonly entries: readonly Entry[]
  /** The last rule that matched. */
  readonly node: RuleNode | undefined
  /** What lies below it. */
  readonly siblings: Siblings | undefined
  /** The entry that found no rule; undefined when all found one. */
  readonly entry: Entry | undefined
}

/** Each knows one mistake people make, and says what to do about it. */
const finders: readonly ((end: DeadEnd) => string | undefined)[] = [
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

/** What would have given the descriptor a limit, or nearly. */
export function findNearMisses(
  domains: ReadonlyMap<string, Siblings>,
  domain: string,
  entries: readonly Entry[],
): string[] {
  const top = domains.get(domain)
  if (top === undefined) return [describeDomains([...domains.keys()], domain)]
  const end = findDeadEnd(top, entries)
  return finders.map((find) => find(end)).filter((hint) => hint !== undefined)
}

function describeDomains(known: readonly string[], domain: string): string {
  if (known.length === 0) return 'no domain is configured at all'
  const alike = known.find((name) => isAlike(name, domain))
  if (alike !== undefined) return `there is a domain '${alike}': domains are case-sensitive`
  return `the domains are ${toShortList(known)}`
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
  return `'${node.path}' has no limit of its own: send one more entry, for one of ${nested}`
}

function findTooManyEntries({ entry, node, siblings, entries }: DeadEnd): string | undefined {
  if (entry === undefined || node === undefined || siblings !== undefined) return undefined
  return (
    `'${node.path}' is the last level of its rules: it limits descriptors with ` +
    `${count(depthOf(node), 'entry', 'entries')}, and this one has ${entries.length}`
  )
}

function findOtherSpelling({ entry, siblings }: DeadEnd): string | undefined {
  if (entry === undefined || siblings === undefined) return undefined
  for (const [key, rules] of siblings.entries()) {
    if (!isAlike(key, entry.key)) continue
    if (key !== entry.key) return `there is a rule with the key '${key}': keys are case-sensitive`
    for (const value of rules.names()) {
      if (isAlike(value, entry.value)) {
        return `there is a rule '${toLevel(key, value)}': values are case-sensitive`
      }
    }
  }
  return undefined
}

function findOtherValues({ entry, siblings }: DeadEnd): string | undefined {
  const values = entry && siblings?.get(entry.key)?.names()
  if (values === undefined) return undefined
  return `the rules with the key '${entry?.key}' have the values ${toShortList([...values])}`
}

function findOtherKeys({ entry, siblings, node }: DeadEnd): string | undefined {
  if (entry === undefined || siblings === undefined || siblings.has(entry.key)) return undefined
  const place = node === undefined ? 'at the top level' : `below '${node.path}'`
  return `the keys ${place} are ${toShortList([...siblings.names()])}`
}

/** Above this the number of orders is more than anyone wants to wait for. */
const mostEntriesToReorder = 6

function findOtherOrder({ top, entries }: DeadEnd): string | undefined {
  if (entries.length < 2 || entries.length > mostEntriesToReorder) return undefined
  for (const order of ordersOf(entries)) {
    const rule = findRule(top, order)
    if (rule?.match === undefined) continue
    const keys = order.map(({ key }) => key).join(', ')
    return `in the order ${keys} the rule '${rule.path}' matches: the order of entries counts`
  }
  return undefined
}

/** A limit that a search with steps back would have found. */
function findWayBack({ top, entries }: DeadEnd): string | undefined {
  const missed = searchAll(top, entries, 0)
  if (missed === undefined) return undefined
  return (
    `'${missed.path}' would match, but is not tried: a level takes the exact value before a ` +
    'pattern, that before the key alone, and does not go back when nothing below matches'
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
  const choices = [rules.get(entry.value), rules.wildcards?.find(entry.value), rules.any]
  for (const choice of choices) {
    if (choice === undefined) continue
    const isLast = at === entries.length - 1
    const found = isLast ? choice : searchAll(choice.children, entries, at + 1)
    if (found?.match !== undefined) return found
  }
  return undefined
}

function findOtherLevel({ top, entry, siblings }: DeadEnd): string | undefined {
  if (entry === undefined || siblings?.has(entry.key)) return undefined
  const paths: string[] = []
  collectPaths(top, entry.key, paths)
  if (paths.length === 0) return undefined
  return `the key '${entry.key}' stands elsewhere: ${toShortList(paths, 3)}`
}

function collectPaths(siblings: Siblings, key: string, paths: string[]): void {
  for (const [name, rules] of siblings.entries()) {
    const nodes = [...rules.values(), ...(rules.any ? [rules.any] : [])]
    for (const node of nodes) {
      if (name === key) paths.push(node.path)
      if (node.children !== undefined) collectPaths(node.children, key, paths)
    }
  }
}

function levelsOf(siblings: Siblings): string[] {
  return [...siblings.entries()].flatMap(([key, rules]) => [
    ...[...rules.names()].map((value) => toLevel(key, value)),
    ...(rules.any === undefined ? [] : [key]),
  ])
}

function* ordersOf<Item>(items: readonly Item[]): Generator<Item[]> {
  if (items.length === 0) yield []
  for (const [index, first] of items.entries()) {
    for (const rest of ordersOf(items.toSpliced(index, 1))) yield [first, ...rest]
  }
}

function isAlike(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`
}
