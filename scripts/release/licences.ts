import { toInsideNames } from '../packaging/build-package.ts'
import { findPublishedPackages } from '../packaging/published-packages.ts'
import { type Dependency, findDependencies, readLockFile } from './lock-file.ts'

/** Licences that allow use in closed-source and open-source programs, on the condition that their text is kept. */
export const allowedLicences: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
]

interface Row {
  readonly dependency: Dependency
  /** The packages of this repository that need it. */
  readonly usedBy: string[]
}

/** All production dependencies of the published packages, except packages of this repository, by id. */
export function collectDependencies(): ReadonlyMap<string, Row> {
  const lockFile = readLockFile()
  const rows = new Map<string, Row>()
  for (const published of findPublishedPackages()) {
    const { name } = published
    const bundled = Object.values(toInsideNames(published))
    for (const [id, dependency] of findDependencies(lockFile, name, bundled).all) {
      if (dependency.name.startsWith('@portcullis/')) continue
      const row = rows.get(id) ?? { dependency, usedBy: [] }
      row.usedBy.push(name)
      rows.set(id, row)
    }
  }
  return rows
}

/** The licences of an SPDX expression. */
export const toLicenceIds = (expression: string) =>
  expression.split(/[()\s]+|\b(?:AND|OR|WITH)\b/).filter((id) => id !== '')

/** The text of docs/licences.md. */
export function toLicencePage(): string {
  const rows = [...collectDependencies()].sort(([a], [b]) => (a < b ? -1 : 1))
  const byLicence = new Map<string, number>()
  for (const [, { dependency }] of rows) {
    byLicence.set(dependency.licence, (byLicence.get(dependency.licence) ?? 0) + 1)
  }
  const counts = [...byLicence].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return `# Licences of the dependencies

This page lists the npm packages that the published packages and the images install in production, on any system.
Portcullis itself has the MIT licence. A test refuses licences that are not on the list in
\`scripts/release/licences.ts\`.

The page is generated from the lock file: \`UPDATE_DOCS=1 npm test -- scripts/release/test/licences.test.ts\`.

| licence | number of packages |
|---|---:|
${counts.map(([licence, count]) => `| ${licence} | ${count} |`).join('\n')}

| package | licence | used by |
|---|---|---|
${rows.map(toLine).join('\n')}
`
}

function toLine([id, { dependency, usedBy }]: [string, Row]): string {
  return `| ${id} | ${dependency.licence} | ${usedBy.toSorted().join(', ')} |`
}
