import { type PackageTable, type Row, toNames } from './table.ts'

type Tables = Readonly<Record<string, PackageTable>>

/**
 * The markers around a diagram. The first word is the name of a package, or `packages` for all of
 * them. `with rules/*` draws the folders in `rules/` instead of that folder.
 */
const block =
  /(<!-- diagram of ([^\s,]+)(?: with (\S+\/)\*)?,[^>]*-->\n)[\s\S]*?(<!-- end of diagram -->)/g

/** Returns the page with every diagram regenerated from the lists. */
export function renewDiagrams(page: string, tables: Tables): string {
  return page.replaceAll(
    block,
    (_, start: string, name: string, opened: string | undefined, end: string) => {
      const table = tables[name]
      if (!table && name !== 'packages') throw new Error(`No list exists for a diagram of ${name}.`)
      return `${start}${table ? drawPackage(table, opened) : drawPackages(tables)}${end}`
    },
  )
}

/** The dependencies between packages: an arrow is labelled with the imported subpaths. */
function drawPackages(tables: Tables): string {
  const arrows = Object.entries(tables).flatMap(([name, table]) => {
    const subpaths = new Map<string, Set<string>>()
    for (const row of Object.values(table)) {
      for (const each of [...toNames(row.outside), ...toNames(row.types)]) {
        const [, target = '', subpath = ''] = /^@portcullis\/([^/]+)\/?(.*)$/.exec(each) ?? []
        if (target === '') continue
        subpaths.set(target, (subpaths.get(target) ?? new Set()).add(subpath))
      }
    }
    return [...subpaths].sort().map(([target, parts]) => {
      // A row that names the package itself may import every subpath.
      const label = parts.has('') ? '' : `|${[...parts].sort().join(', ')}|`
      return `  ${name} -->${label} ${target}`
    })
  })
  return toBlock([...Object.keys(tables).map((name) => `  ${name}`), ...arrows])
}

/**
 * The folders and files directly in src/, and in the opened folder: an arrow is a permission to import,
 * a dotted one to import types.
 */
function drawPackage(table: PackageTable, opened?: string): string {
  const toUnit = (rowName: string) => toName(rowName, opened)
  const units = [...new Set(Object.keys(table).map(toUnit))]
  const lines = units.flatMap((unit) => {
    const rows = Object.entries(table).filter(([name]) => toUnit(name) === unit)
    const isFree = rows.every(([, row]) => toNames(row.inside).includes('**'))
    const isFreeOfTypes = rows.every(([, row]) => toNames(row.types).includes('**'))
    const note = isFree ? 'everything' : isFreeOfTypes ? 'types of everything' : undefined
    const label = note === undefined ? unit : `${unit}<br>may import ${note}`
    return [
      `  ${toId(unit)}["${label}"]`,
      ...(note === undefined ? drawArrows(unit, units, table, rows, toUnit) : []),
    ]
  })
  return toBlock(lines.toSorted((a, b) => Number(isArrow(a)) - Number(isArrow(b))))
}

function drawArrows(
  unit: string,
  units: readonly string[],
  table: PackageTable,
  rows: readonly (readonly [string, Row])[],
  toUnit: (rowName: string) => string,
): string[] {
  const reach = (column: 'inside' | 'types') =>
    new Set(
      rows.flatMap(([, row]) =>
        toNames(row[column]).flatMap((name) => findRows(name, table).map(toUnit)),
      ),
    )
  const code = reach('inside')
  const types = reach('types')
  const others = units.filter((target) => target !== unit)
  const draw = (arrow: string, targets: readonly string[]) =>
    targets.length > 0 ? [`  ${toId(unit)} ${arrow} ${targets.map(toId).join(' & ')}`] : []
  return [
    ...draw(
      '-->',
      others.filter((target) => code.has(target)),
    ),
    ...draw(
      '-.->',
      others.filter((target) => types.has(target) && !code.has(target)),
    ),
  ]
}

function findRows(name: string, table: PackageTable): string[] {
  if (Object.hasOwn(table, name)) return [name]
  const start = name.endsWith('**') ? name.slice(0, -2) : undefined
  return start === undefined ? [] : Object.keys(table).filter((row) => row.startsWith(start))
}

/** The entry directly in src/, or in the opened folder, that a row belongs to. */
function toName(rowName: string, opened = ''): string {
  if (rowName === './' || rowName === '**') return 'other files'
  const above = rowName.startsWith(opened) ? opened : ''
  return above + rowName.slice(above.length).replace(/\/.*$/, '/')
}

function toId(unit: string): string {
  return unit.replaceAll(/\W/g, '_')
}

function isArrow(line: string): boolean {
  return / -(?:-|\.-)> /.test(line)
}

function toBlock(lines: readonly string[]): string {
  return ['```mermaid', 'flowchart TD', ...lines, '```', ''].join('\n')
}
