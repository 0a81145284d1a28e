import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Subpath } from '../subpaths.ts'
import { type Declaration, DeclarationReader } from './read-declarations.ts'

/** The faults in the exports of a package; the message lists all of them. */
export class ApiReportError extends Error {
  override readonly name = 'ApiReportError'
}

/** A package whose declarations are built. */
export interface ReportedPackage {
  readonly name: string
  /** The workspace, which contains the report. */
  readonly folder: string
  /** The folder with the declarations. */
  readonly dist: string
  readonly subpaths: readonly Subpath[]
}

/**
 * Interfaces of things that can be closed. Users implement `CounterStore`, for which one of the two
 * methods is enough.
 */
const closable: ReadonlySet<string> = new Set(['AsyncDisposable', 'CounterStore'])

/**
 * Compares the exports of a package with its report (`api.md`), so that changes of the public API are
 * visible in review.
 *
 * @param updates whether to write the report instead
 * @returns the number of exports
 * @throws ApiReportError when the report is out of date, an export or a member has no comment, or something can
 * be closed in only one of the two ways
 */
export function checkApiReport(reported: ReportedPackage, updates: boolean): number {
  const { folder, name } = reported
  const entries = readEntries(reported)
  const faults = [
    ...new Set(entries.flatMap(({ exports }) => [...exports.values()].flatMap(findFaults))),
  ]
  const report = toReport(name, entries)
  const path = join(folder, 'api.md')
  if (updates) writeFileSync(path, report)
  const current = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (current !== report) {
    faults.push(
      `${name}: the exports differ from api.md. If that is intended, run: npm run build -- --update-api`,
      ...findDifferences(current, report),
    )
  }
  if (faults.length > 0) throw new ApiReportError(faults.join('\n'))
  return new Set(entries.flatMap(({ exports }) => [...exports.values()])).size
}

interface Entry {
  readonly specifier: string
  readonly exports: ReadonlyMap<string, Declaration>
}

function readEntries({ dist, subpaths }: ReportedPackage): Entry[] {
  const reader = new DeclarationReader(dist)
  return subpaths.map(({ specifier, types }) => ({
    specifier,
    exports: reader.readExports(join(dist, types)),
  }))
}

function findFaults({ name, file, isDocumented, members, bases }: Declaration): string[] {
  const faults = isDocumented ? [] : [`${file}: ${name} has no TSDoc comment`]
  for (const member of members) {
    if (!member.isDocumented) faults.push(`${file}: ${name}.${member.name} has no TSDoc comment`)
  }
  const names = new Set(members.map((member) => member.name))
  const isClosable = names.has('close') || bases.some((base) => closable.has(base))
  const hasBoth = names.has('close') && names.has('[Symbol.asyncDispose]')
  if (isClosable && !hasBoth && !closable.has(name)) {
    faults.push(`${file}: ${name} needs both close() and [Symbol.asyncDispose]()`)
  }
  return faults
}

function toReport(name: string, entries: readonly Entry[]): string {
  const shown = new Map<string, string>()
  const chapters = entries.map(({ specifier, exports }) => {
    const lines = [...exports]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([exportedName, declaration]) => {
        const { name: ownName, file, code } = declaration
        const id = `${file} ${ownName}`
        const earlier = shown.get(id)
        shown.set(id, earlier ?? specifier)
        if (earlier !== undefined) return [`// ${exportedName}: see ${earlier}`]
        const alias = exportedName === ownName ? [] : [`// exported as ${exportedName}`]
        return [...alias, ...code]
      })
    return `## ${specifier}\n\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n`
  })
  return `# Exports of ${name}

Written by \`npm run build -- --update-api\` from the built declarations, and compared by \`npm run pack\`.

${chapters.join('\n')}`
}

const mostDifferences = 10

/** The lines that occur in only one of the two reports. */
function findDifferences(before: string, after: string): string[] {
  const old = new Set(before.split('\n'))
  const current = new Set(after.split('\n'))
  const differences = [
    ...[...old].filter((line) => !current.has(line)).map((line) => `- ${line}`),
    ...[...current].filter((line) => !old.has(line)).map((line) => `+ ${line}`),
  ]
  const more = differences.length - mostDifferences
  return [
    ...differences.slice(0, mostDifferences),
    ...(more > 0 ? [`… and ${more} more lines`] : []),
  ]
}
