import { BuildError } from './build-error.ts'

/** The manifest in the repository: its targets are sources, so that development needs no build. */
export interface DevelopmentManifest {
  readonly name: string
  readonly version: string
  readonly exports: { readonly [subpath: string]: string | null }
  readonly bin?: { readonly [command: string]: string }
  readonly dependencies?: { readonly [name: string]: string }
  readonly [field: string]: unknown
}

export type PublishedTarget = string | null | { readonly types: string; readonly default: string }

/** The manifest in the archive: its targets are what the build made of those sources. */
export interface PublishedManifest {
  readonly name: string
  readonly version: string
  readonly exports: { readonly [subpath: string]: PublishedTarget }
  readonly bin?: { readonly [command: string]: string }
  readonly dependencies?: { readonly [name: string]: string }
  readonly [field: string]: unknown
}

// What a consumer or the registry reads, in the order in which it is written. Everything else
// (private, scripts, devDependencies) is about the repository and stays there.
const publishedFields = [
  'name',
  'version',
  'description',
  'keywords',
  'license',
  'type',
  'sideEffects',
  'engines',
  'bin',
  'exports',
  'dependencies',
  'peerDependencies',
  'peerDependenciesMeta',
]

export function toPublishedManifest(development: DevelopmentManifest): PublishedManifest {
  const { name, version, exports, bin } = development
  const fields = publishedFields.filter((field) => field in development)
  return {
    ...Object.fromEntries(fields.map((field) => [field, development[field]])),
    name,
    version,
    exports: mapValues(exports, toPublishedTarget),
    ...(bin && { bin: mapValues(bin, toPublishedCommand) }),
    files: ['**/*.js', '**/*.d.ts'],
  }
}

function toPublishedTarget(target: string | null): PublishedTarget {
  if (target === null || target === './package.json') return target
  const path = withoutSource(target)
  // TypeScript takes the first condition that fits, so the types come first.
  return { types: `./${path}.d.ts`, default: `./${path}.js` }
}

// npm wants commands without the leading "./" and corrects them with a warning otherwise.
const toPublishedCommand = (target: string) => `${withoutSource(target)}.js`

function withoutSource(target: string): string {
  const path = /^\.\/src\/(.+)\.ts$/.exec(target)?.[1]
  if (path === undefined) {
    throw new BuildError(
      `Cannot publish "${target}": in "exports" and "bin" write a source such as "./src/index.ts", ` +
        'null, or "./package.json"',
    )
  }
  return path
}

function mapValues<From, To>(
  map: { readonly [key: string]: From },
  convert: (value: From) => To,
): { [key: string]: To } {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, convert(value)]))
}
