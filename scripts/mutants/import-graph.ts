import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Which modules each module loads, by their paths below the repository. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>

const modules = ['packages/*/{src,test,bench}/**/*.ts', 'scripts/**/*.ts']

export function readImports(root: string): ImportGraph {
  const files = globSync(modules, { cwd: root, exclude: (name) => name.includes('node_modules') })
  const packages = readPackages(root)
  return new Map(
    files.map((file) => {
      const found = findReferences(readFileSync(join(root, file), 'utf8'))
        .flatMap((reference) => resolveReference(reference, file, packages))
        .filter((path) => existsSync(join(root, path)))
      return [file, new Set(found)]
    }),
  )
}

/**
 * The imports of a module, and the paths in its strings, because programs and threads are started
 * by path. Type-only imports load nothing.
 */
function findReferences(source: string): string[] {
  const imports = source.matchAll(
    /^(?:import|export)\s(?!type\b)[^'"`;]*?from\s+'([^']+)'|\bimport\s*\(?\s*'([^']+)'/gm,
  )
  // join(folder, 'src', 'main.ts') is a path too.
  const joined = source.replaceAll("', '", '/')
  const paths = joined.matchAll(/(?<!from )'([^'\s]+\.ts)'/g)
  return [...imports, ...paths].flatMap(([, first, second]) => first ?? second ?? [])
}

function resolveReference(
  reference: string,
  from: string,
  packages: ReadonlyMap<string, PackageExports>,
): string[] {
  const [scope, name, ...rest] = reference.split('/')
  const found = packages.get(`${scope}/${name}`)
  if (found) return resolveExport(found, ['.', ...rest].join('/'))
  const packageFolder = from.split('/').slice(0, 2).join('/')
  const folders = reference.startsWith('.') ? [dirname(from)] : [dirname(from), packageFolder, '']
  return reference.endsWith('.ts') ? folders.map((folder) => join(folder, reference)) : []
}

function resolveExport({ folder, exports }: PackageExports, subpath: string): string[] {
  return Object.entries(exports).flatMap(([pattern, target]) => {
    if (typeof target !== 'string') return []
    if (pattern === subpath) return join(folder, target)
    const [before = '', after] = pattern.split('*')
    if (after === undefined || !subpath.startsWith(before) || !subpath.endsWith(after)) return []
    const middle = subpath.slice(before.length, subpath.length - after.length)
    return join(folder, target.replace('*', middle))
  })
}

interface PackageExports {
  readonly folder: string
  readonly exports: Readonly<Record<string, unknown>>
}

function readPackages(root: string): Map<string, PackageExports> {
  return new Map(
    globSync('packages/*/package.json', { cwd: root }).map((file) => {
      const { name, exports = {} } = JSON.parse(readFileSync(join(root, file), 'utf8'))
      return [name, { folder: dirname(file), exports }]
    }),
  )
}
