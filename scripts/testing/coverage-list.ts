import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { findImports, readSource, type TestTitle, type TitleParts } from './test-source.ts'

/** One row of a list that maps each sentence of a specification to its test. */
export interface CoverageRow {
  /** The nearest heading above the table. */
  readonly section: string
  readonly sentence: string
  /** The second column, as written. */
  readonly test: string
  readonly line: number
}

export interface CoverageList {
  readonly rows: readonly CoverageRow[]
  /** All faults of the list, one line each; empty if every row has a test. */
  readonly faults: readonly string[]
}

/**
 * Reads the tables of a README.md whose second column is headed `test`. A cell of that column is one of:
 *
 *     [decide/headers.test.ts](../decide/headers.test.ts) › the remaining count is in the header
 *     see Section › sentence of another row
 *     not testable: why no test can show it
 *
 * `<br>` separates several tests of one row. A nested test is named by its own title, or by
 * `outer title › inner title`. In a title that contains computed values, `…` stands for every value. Each
 * test in a `*.test.ts` file beside the list must also be named by a row.
 */
export function checkCoverageList(path: string): CoverageList {
  const { rows, faults } = parseRows(readFileSync(path, 'utf8'))
  const byName = new Map(rows.map((row) => [nameOf(row), row]))
  const named: NamedTest[] = []

  const faultOf = (row: CoverageRow): string | undefined => {
    if (row.test === '') return 'has no test'
    const [, reason] = /^not testable:(.*)$/.exec(row.test) ?? []
    if (reason !== undefined) return reason.trim() === '' ? 'gives no reason' : undefined
    if (row.test.startsWith('see ')) return faultOfReference(row, byName)
    for (const cell of row.test.split('<br>')) {
      const fault = faultOfTest(cell.trim(), dirname(path), named)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  const seen = new Set<string>()
  for (const row of rows) {
    const name = nameOf(row)
    const fault = seen.has(name) ? 'occurs twice' : faultOf(row)
    seen.add(name)
    if (fault !== undefined) faults.push(`line ${row.line}: "${name}" ${fault}`)
  }
  return { rows, faults: [...faults, ...findUnnamedTests(dirname(path), named)] }
}

interface NamedTest {
  readonly file: string
  readonly title: string
}

const nameOf = ({ section, sentence }: CoverageRow) => `${section} › ${sentence}`

function parseRows(text: string): { readonly rows: CoverageRow[]; readonly faults: string[] } {
  const rows: CoverageRow[] = []
  const faults: string[] = []
  let section = ''
  let isFenced = false
  /** Undefined outside a table. */
  let isListed: boolean | undefined
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('```')) isFenced = !isFenced
    if (isFenced) continue
    const [, heading] = /^#{2,4} (.+)$/.exec(line) ?? []
    if (heading !== undefined) section = heading.trim()
    const cells = toCells(line)
    if (cells === undefined) {
      isListed = undefined
      continue
    }
    if (isListed === undefined) {
      isListed = cells[1] === 'test'
      continue
    }
    if (!isListed || cells.every((cell) => /^:?-+:?$/.test(cell))) continue
    const [sentence = '', test = ''] = cells
    if (cells.length !== 2) faults.push(`line ${index + 1}: ${cells.length} columns instead of 2`)
    else if (sentence === '') faults.push(`line ${index + 1}: no sentence`)
    else rows.push({ section, sentence, test, line: index + 1 })
  }
  if (rows.length === 0) faults.push('no row below a table heading "| sentence | test |"')
  return { rows, faults }
}

/** The cells of a table row without their escapes; undefined for any other line. */
function toCells(line: string): string[] | undefined {
  const [, inner] = /^\|(.*)\|\s*$/.exec(line) ?? []
  return inner?.split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/\\([\\|*_<>[\]`])/g, '$1'))
}

function faultOfReference(
  row: CoverageRow,
  byName: ReadonlyMap<string, CoverageRow>,
): string | undefined {
  const visited = new Set<CoverageRow>()
  let at: CoverageRow | undefined = row
  while (at?.test.startsWith('see ')) {
    if (visited.has(at)) return `is a circular reference: ${row.test}`
    visited.add(at)
    at = byName.get(at.test.slice('see '.length))
  }
  if (at === undefined) return `points to a row that does not exist: ${row.test}`
  return at.test.startsWith('[') ? undefined : `points to a row that has no test: ${row.test}`
}

function faultOfTest(cell: string, folder: string, named: NamedTest[]): string | undefined {
  const [, text, target, title] = /^\[([^\]]+)\]\(([^)]+)\) › (.+)$/.exec(cell) ?? []
  if (text === undefined || target === undefined || title === undefined) {
    return `has neither "[file](path) › test name" nor "see …" nor "not testable: …", but: ${cell}`
  }
  const file = resolve(folder, target)
  if (!target.endsWith(text)) return `shows ${text}, but links to ${target}`
  if (!existsSync(file)) return `names a file that does not exist: ${target}`
  if (!isRun(file)) return `names a file that no test file imports: ${target}`
  if (!hasTest(file, title)) return `names a test that is not in ${target}: ${title}`
  named.push({ file, title })
  return undefined
}

/** The tests beside the list that no row names, including their parents and children. */
function findUnnamedTests(folder: string, named: readonly NamedTest[]): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts') && name !== 'completeness.test.ts')
    .flatMap((name) => {
      const file = join(folder, name)
      const titles = named.filter((test) => test.file === file).map(({ title }) => title)
      const { tests } = readSource(file)
      const isNamed = (test: TestTitle) => titles.some((title) => fits(test, title, () => true))
      const isInside = (inner: TestTitle, outer: TestTitle) =>
        outer.path.length < inner.path.length &&
        outer.path.every((part, at) => part === inner.path[at])
      return tests
        .filter(
          (test) =>
            !isNamed(test) &&
            !tests.some(
              (other) => isNamed(other) && (isInside(other, test) || isInside(test, other)),
            ),
        )
        .map((test) => `${name}: no row names the test "${test.path.map(toText).join(' › ')}"`)
    })
}

const toText = (parts: TitleParts) => parts.map((part) => part ?? '…').join('')

const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

type IsValue = (text: string) => boolean

function fits({ path }: TestTitle, title: string, isValue: IsValue): boolean {
  return path.some((_, at) => {
    const parts = path.slice(at).flatMap((part, depth) => (depth === 0 ? part : [' › ', ...part]))
    return matches(parts, title, isValue)
  })
}

/** Whether the program can produce the title from the parts, with allowed values in the gaps. */
function matches(parts: TitleParts, title: string, isValue: IsValue): boolean {
  // If the text between two gaps occurs twice, either occurrence may be the right one.
  return ['(.*?)', '(.*)'].some((gap) => {
    const pattern = parts.map((part) => (part === null ? gap : escapePattern(part))).join('')
    const [, ...values] = new RegExp(`^${pattern}$`, 's').exec(title) ?? []
    return parts.every((part) => part !== null)
      ? title === parts.join('')
      : values.length > 0 && values.every((value) => value === '' || isValue(value))
  })
}

/**
 * Values from variables are looked up among the string literals of the file and of its direct
 * imports, because tables of cases are often in a separate file.
 */
function hasTest(file: string, title: string): boolean {
  const source = readSource(file)
  const all = () => [source, ...source.imports.map(readSource)]
  const isText: IsValue = (text) =>
    all().some(
      ({ strings, templates }) =>
        strings.has(text) || templates.some((template) => matches(template, text, isValue)),
    )
  // Programs also extract values from longer texts, such as the name of a page from its path.
  const isWord: IsValue = (text) => {
    const word = new RegExp(`(?<!\\p{L})${escapePattern(text)}(?!\\p{L})`, 'u')
    return all().some(({ strings }) => [...strings].some((each) => word.test(each)))
  }
  const isValue: IsValue = (text) =>
    text === '…' || isText(text) || isMadeOf(text, isText) || isWord(text)
  return (
    source.tests.some((test) => fits(test, title, isValue)) ||
    (all().some(({ hasTitlesFromData }) => hasTitlesFromData) && isText(title))
  )
}

/** Whether a text is a number or another constant, or JSON of constants and known texts. */
function isMadeOf(text: string, isText: IsValue): boolean {
  const isKnown = (value: unknown): boolean => {
    if (typeof value === 'string') return isText(value)
    if (typeof value !== 'object' || value === null) return true
    return Object.entries(value).every(
      ([name, each]) => (Array.isArray(value) || isText(name)) && isKnown(each),
    )
  }
  if (text === 'undefined' || /^-?[\d.,_]+$/.test(text)) return true
  try {
    return isKnown(JSON.parse(text))
  } catch {
    return false
  }
}

/** A file with shared tests runs only if a test file of the same `test` folder imports it. */
function isRun(file: string): boolean {
  if (file.endsWith('.test.ts')) return true
  const [root] = /^.*[\\/]test[\\/]/.exec(file) ?? []
  if (root === undefined) return false
  const reached = new Set<string>()
  const queue = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(root, name))
  for (const next of queue) {
    if (reached.has(next)) continue
    reached.add(next)
    queue.push(...findImports(next).filter((path) => !relative(root, path).startsWith('..')))
  }
  return reached.has(file)
}
