import { existsSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { build } from 'esbuild'
import type { Archive } from './archive.ts'
import type { PublishedManifest } from './published-manifest.ts'

// A path that exists only in the repository; the code checks that before it uses it.
const onlyInRepository = ['bundle/bundle-web.js']

/**
 * Checks that everything the modules of a built package import is in the package, in Node, or among
 * its dependencies, and that every dependency is used by a module.
 */
export async function checkImports(
  dist: string,
  { contents, manifest }: Pick<Archive, 'contents' | 'manifest'>,
): Promise<string> {
  const modules = contents.filter((file) => /^(?!.*web-assets\/).*\.js$/.test(file))
  const names = new Set((await listOutsideImports(dist, modules)).map(toPackageName))
  const declared = listDeclared(manifest)
  const undeclared = [...names].filter(
    (name) => !declared.includes(name) && name !== manifest.name && !isBuiltIn(name),
  )
  if (undeclared.length > 0) {
    throw new Error(`Imported, but not a dependency: ${undeclared.join(', ')}`)
  }
  const code = modules.map((file) => readFileSync(join(dist, file), 'utf8'))
  const unused = Object.keys(manifest.dependencies ?? {}).filter(
    (name) => !code.some((text) => text.includes(`'${name}`) || text.includes(`"${name}`)),
  )
  if (unused.length > 0) throw new Error(`A dependency, but not imported: ${unused.join(', ')}`)
  const missing = modules.flatMap((file, index) => listMissingFiles(dist, file, code[index] ?? ''))
  if (missing.length > 0) throw new Error(`Referenced, but missing: ${missing.join(', ')}`)
  return `${modules.length} modules`
}

/** Fails if a relative import cannot be resolved. */
async function listOutsideImports(dist: string, modules: readonly string[]): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: dist,
    stdin: { contents: modules.map((file) => `import './${file}'\n`).join(''), resolveDir: dist },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  return Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  )
}

/** Files that a module refers to by a relative path, in one of the notations that we use. */
function listMissingFiles(dist: string, file: string, code: string): string[] {
  const named = [
    ...code.matchAll(/new URL\('([^']+)', import\.meta\.url\)/g),
    ...code.matchAll(/join\(import\.meta\.dirname, '([^']+)'/g),
  ]
  return named
    .map(([, path = '']) => posix.join(dirname(file), path))
    .filter((path) => !existsSync(join(dist, path)) && !onlyInRepository.includes(path))
}

function listDeclared(manifest: PublishedManifest): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = manifest
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
}

const isBuiltIn = (name: string) => name.startsWith('node:') || builtinModules.includes(name)

function toPackageName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier
}
