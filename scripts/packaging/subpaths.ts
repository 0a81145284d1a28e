import { BuildError } from './build-error.ts'
import type { ModuleTarget, PublishedManifest } from './published-manifest.ts'

/** A module that a consumer can import. */
export interface Subpath {
  /** The specifier as a consumer writes it: the name of the package and the subpath. */
  readonly specifier: string
  readonly types: string
  readonly file: string
  /**
   * The CommonJS variant, for tools that cannot load ES modules with `require`; undefined if the
   * package has none.
   */
  readonly commonJs?: { readonly types: string; readonly file: string }
}

/**
 * Everything that can be imported from a package; wildcards are expanded with its files.
 * @throws BuildError if a target refers to a missing file.
 */
export function listSubpaths(manifest: PublishedManifest, files: readonly string[]): Subpath[] {
  const hidden = Object.keys(manifest.exports).filter((key) => manifest.exports[key] === null)
  const subpaths = Object.entries(manifest.exports).flatMap(([key, target]) => {
    if (typeof target === 'string' && target !== './package.json') {
      if (!files.includes(target.slice(2)))
        throw new BuildError(`exports["${key}"] refers to a missing file: ${target}`)
    }
    if (target === null || typeof target === 'string') return []
    const module = 'module-sync' in target ? target.default : target
    const found = fillIn(key, module.default, files)
      .filter(({ subpath }) => !hidden.some((pattern) => matches(pattern, subpath)))
      .map(({ subpath, star }) => ({
        specifier: manifest.name + subpath.slice(1),
        ...fillInTarget(module, star),
        ...('require' in target && { commonJs: fillInTarget(target.require, star) }),
      }))
    if (found.length === 0)
      throw new BuildError(`exports["${key}"] matches no file: ${module.default}`)
    return found
  })
  for (const { specifier, file, types, commonJs } of subpaths) {
    for (const path of [file, types, ...Object.values(commonJs ?? {})]) {
      if (!files.includes(path.slice(2)))
        throw new BuildError(`${specifier} refers to a missing file: ${path}`)
    }
  }
  // An explicit name and a wildcard may both result in the same specifier.
  return [...new Map(subpaths.map((subpath) => [subpath.specifier, subpath])).values()]
}

function fillIn(key: string, target: string, files: readonly string[]) {
  if (!key.includes('*')) return [{ subpath: key, star: '' }]
  const [before = '', after = ''] = target.slice(2).split('*')
  return files
    .filter((file) => file.startsWith(before) && file.endsWith(after))
    .map((file) => file.slice(before.length, file.length - after.length))
    .map((star) => ({ subpath: key.replace('*', star), star }))
}

const fillInTarget = (target: ModuleTarget, star: string) => ({
  file: target.default.replaceAll('*', star),
  types: target.types.replaceAll('*', star),
})

function matches(pattern: string, subpath: string): boolean {
  const [before = '', after = ''] = pattern.split('*')
  return pattern.includes('*')
    ? subpath.startsWith(before) && subpath.endsWith(after)
    : subpath === pattern
}
