import { BuildError } from './build-error.ts'
import { commonJsFolder } from './commonjs-folder.ts'

interface Dependencies {
  readonly [name: string]: string
}

interface SharedFields {
  readonly name: string
  readonly version: string
  readonly bin?: { readonly [command: string]: string }
  readonly dependencies?: Dependencies
  readonly optionalDependencies?: Dependencies
  readonly peerDependencies?: Dependencies
  readonly [field: string]: unknown
}

/** The manifest in the repository: its targets are sources, so that development needs no build. */
export interface DevelopmentManifest extends SharedFields {
  readonly exports: { readonly [subpath: string]: string | null }
  /** Patterns of files that are published unchanged. */
  readonly files?: readonly string[]
  readonly scripts?: { readonly [name: string]: string }
}

/**
 * A module with its declarations. TypeScript uses the first matching condition, so types come
 * first.
 */
export interface ModuleTarget {
  readonly types: string
  readonly default: string
}

/**
 * A module with a CommonJS variant. Node and new bundlers use `module-sync`, also for `require`, so
 * that a process never loads both variants.
 */
export interface DualTarget {
  readonly 'module-sync': ModuleTarget
  readonly require: ModuleTarget
  readonly default: ModuleTarget
}

export type PublishedTarget = string | null | ModuleTarget | DualTarget

/**
 * What an archive contains for CommonJS. `modules`: a variant of all modules. `types`: declarations, without which
 * TypeScript does not allow a CommonJS project to require the modules, and a file that requires each module.
 */
export type CommonJsSupport = 'none' | 'types' | 'modules'

/** The manifest in the archive: its targets are the compiled files. */
export interface PublishedManifest extends SharedFields {
  readonly exports: { readonly [subpath: string]: PublishedTarget }
  readonly files: readonly string[]
}

// The fields that consumers or the registry read, in the order in which they are written. Other
// fields (private, scripts, devDependencies) concern only the repository.
const publishedFields = [
  'name',
  'version',
  'description',
  'keywords',
  'homepage',
  'bugs',
  'repository',
  'license',
  'type',
  'sideEffects',
  'engines',
  'bin',
  'exports',
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
]

/**
 * @param inside the packages that are bundled into the archive, by the name of their folder there.
 */
export function toPublishedManifest(
  development: DevelopmentManifest,
  inside: { readonly [folder: string]: string } = {},
  commonJs: CommonJsSupport = 'none',
): PublishedManifest {
  const { name, version, exports, bin, dependencies, files = [] } = development
  const fields = publishedFields.filter((field) => field in development)
  const folders = files.map((pattern) => toPublishedPath(pattern).replace(/\/.*/s, ''))
  return {
    ...Object.fromEntries(fields.map((field) => [field, development[field]])),
    name,
    version,
    exports: mapValues(exports, (target) => toPublishedTarget(target, commonJs)),
    ...(commonJs !== 'none' && toLegacyFields(exports, commonJs)),
    ...(bin && { bin: mapValues(bin, toPublishedCommand) }),
    ...(dependencies && { dependencies: without(dependencies, Object.values(inside)) }),
    files: [
      ...new Set([
        'lib',
        ...(commonJs === 'none' ? [] : [commonJsFolder]),
        ...Object.keys(inside),
        ...folders,
        'CHANGELOG.md',
      ]),
    ],
  }
}

/** The path of a workspace file in the archive, at the same depth as in the repository. */
export function toPublishedPath(path: string): string {
  return path.replace(/^src\//, 'lib/')
}

function toPublishedTarget(target: string | null, commonJs: CommonJsSupport): PublishedTarget {
  if (target === null || !target.endsWith('.ts')) return checkTarget(target)
  const module = toModuleTarget(withoutSource(target))
  if (commonJs === 'none') return module
  return {
    'module-sync': module,
    require: toModuleTarget(toCommonJsPath(target, commonJs)),
    default: module,
  }
}

/** The fields for TypeScript's `moduleResolution: node10`, which does not read `exports`. */
function toLegacyFields(
  exports: DevelopmentManifest['exports'],
  commonJs: Exclude<CommonJsSupport, 'none'>,
) {
  const sources = Object.entries(exports).filter(([, target]) => target?.endsWith('.ts'))
  const paths = sources.map(
    ([key, target]) => [key.slice(2), toCommonJsPath(target ?? '', commonJs)] as const,
  )
  const [main] = paths.filter(([key]) => key === '').map(([, path]) => path)
  const subpaths = paths.filter(([key]) => key !== '')
  return {
    ...(main !== undefined && { main: `./${main}.js`, types: `./${main}.d.ts` }),
    typesVersions: {
      '*': Object.fromEntries(subpaths.map(([key, path]) => [key, [`./${path}.d.ts`]])),
    },
  }
}

const toModuleTarget = (path: string): ModuleTarget => ({
  types: `./${path}.d.ts`,
  default: `./${path}.js`,
})

/** With `types`, declarations keep their whole path below `cjs`, since some import files outside `lib`. */
function toCommonJsPath(target: string, commonJs: Exclude<CommonJsSupport, 'none'>): string {
  const path = withoutSource(target)
  return commonJs === 'modules' ? path.replace(/^lib/, commonJsFolder) : `${commonJsFolder}/${path}`
}

function checkTarget(target: string | null): string | null {
  if (target === null || target.endsWith('.json')) return target
  throw toTargetError(target)
}

// npm expects commands without the leading "./" and otherwise corrects them with a warning.
const toPublishedCommand = (target: string) => `${withoutSource(target)}.js`

function withoutSource(target: string): string {
  const path = /^\.\/src\/(.+)\.ts$/.exec(target)?.[1]
  if (path === undefined) throw toTargetError(target)
  return `lib/${path}`
}

function toTargetError(target: string): BuildError {
  return new BuildError(
    `Cannot publish "${target}": in "exports" and "bin" write a source such as "./src/index.ts", ` +
      'null, or a JSON file',
  )
}

function without(map: Dependencies, names: readonly string[]): Dependencies {
  return Object.fromEntries(Object.entries(map).filter(([name]) => !names.includes(name)))
}

function mapValues<From, To>(
  map: { readonly [key: string]: From },
  convert: (value: From) => To,
): { [key: string]: To } {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, convert(value)]))
}
