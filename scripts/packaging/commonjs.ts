import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { build } from 'esbuild'
import { BuildError } from './build-error.ts'
import { commonJsFolder } from './commonjs-folder.ts'
import type { Subpath } from './subpaths.ts'

/**
 * Writes a CommonJS variant of everything that can be imported from a built package. Node can load
 * ES modules with `require`; the variant is for tools that cannot, such as Jest, and for the types
 * of projects that TypeScript compiles to CommonJS.
 */
export async function writeCommonJs(dist: string, subpaths: readonly Subpath[]): Promise<void> {
  const folder = join(dist, commonJsFolder)
  const modules = await listReachable(
    dist,
    subpaths.map(({ file }) => file),
  )
  const { warnings } = await build({
    absWorkingDir: dist,
    entryPoints: modules,
    outdir: folder,
    outbase: 'lib',
    format: 'cjs',
    platform: 'node',
    target: 'es2022',
    logLevel: 'silent',
  })
  // For example a warning about import.meta, which would be empty.
  if (warnings.length > 0) throw new BuildError(warnings.map(({ text }) => text).join('\n'))
  for (const file of listDeclarations(dist, subpaths)) {
    const target = join(folder, posix.relative('lib', file))
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(dist, file), target)
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n')
}

/** The modules themselves and those that they import, by their paths in the package. */
async function listReachable(dist: string, files: readonly string[]): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: dist,
    entryPoints: [...new Set(files)],
    outdir: dist,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  return Object.keys(metafile.inputs)
}

/** The same for declarations, which also import modules for their types only. */
function listDeclarations(dist: string, subpaths: readonly Subpath[]): Set<string> {
  const found = new Set<string>()
  const add = (file: string): void => {
    if (found.has(file)) return
    found.add(file)
    const imports = readFileSync(join(dist, file), 'utf8').matchAll(
      /(?:\bfrom |\bimport\()'(\.[^']+)\.js'/g,
    )
    for (const [, path = ''] of imports) add(posix.join(dirname(file), `${path}.d.ts`))
  }
  for (const { types } of subpaths) add(posix.normalize(types))
  return found
}
