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

/**
 * Writes the declarations of a built package a second time, as CommonJS declarations: with `module: node16`,
 * TypeScript lets a CommonJS project require nothing else. Beside them, it writes a file for each subpath that
 * requires the ES module, for tools that use the condition `require`; Node loads the ES module directly.
 * @param modulesOnly names of dependencies that have no declarations for CommonJS
 */
export function writeCommonJsTypes(
  dist: string,
  subpaths: readonly Subpath[],
  modulesOnly: readonly string[],
): void {
  const folder = join(dist, commonJsFolder)
  for (const file of listDeclarations(dist, subpaths)) {
    const target = join(folder, file)
    mkdirSync(dirname(target), { recursive: true })
    const text = readFileSync(join(dist, file), 'utf8')
    writeFileSync(target, toCommonJsDeclarations(text, modulesOnly))
  }
  for (const { file } of subpaths) {
    const target = posix.join(commonJsFolder, file)
    const module = posix.relative(dirname(target), file)
    writeFileSync(join(dist, target), `'use strict'\nmodule.exports = require('${module}')\n`)
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n')
}

/**
 * Adds the attribute `resolution-mode` to imports from packages that are ES modules: without it,
 * CommonJS declarations cannot import their types.
 */
export function toCommonJsDeclarations(text: string, modulesOnly: readonly string[]): string {
  return text.replaceAll(
    /^import (?:type )?\{([^}]*)\} from '([^'./][^']*)';?$/gm,
    (line, names: string, specifier: string) => {
      const isModule = modulesOnly.some((name) => `${specifier}/`.startsWith(`${name}/`))
      const types = names.replaceAll(/\btype (?=\w)/g, '')
      return isModule
        ? `import type {${types}} from '${specifier}' with { 'resolution-mode': 'import' };`
        : line
    },
  )
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

/**
 * The declarations of the subpaths and those that they import. They import more modules than the
 * code does, because some are imported only for their types.
 */
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
