import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { BuildError } from './build-error.ts'
import { writeCommonJs, writeCommonJsTypes } from './commonjs.ts'
import { bundleLimiter, typesFolder } from './limiter/bundle-limiter.ts'
import { listFiles } from './list-files.ts'
import { toInsideImports, toJavaScriptImports, toJavaScriptPrograms } from './module-references.ts'
import { writeWebAssets } from './portcullis/web-assets.ts'
import {
  type CommonJsSupport,
  type DevelopmentManifest,
  toPublishedManifest,
  toPublishedPath,
} from './published-manifest.ts'
import {
  type BuiltPackage,
  findInsidePackages,
  type PublishedPackage,
  readJson,
  root,
} from './published-packages.ts'
import { CommandError, runCommand } from './run-command.ts'
import { listSubpaths, type Subpath } from './subpaths.ts'

/** Additional build steps of a package, by the name of its folder. */
const ownSteps: { readonly [name: string]: (dist: string) => Promise<void> } = {
  limiter: bundleLimiter,
  portcullis: writeWebAssets,
}

/** Node can require ES modules, so most libraries need only declarations for CommonJS. */
const commonJsSupport: { readonly [name: string]: CommonJsSupport } = {
  auth: 'types',
  'graphql-over-http': 'modules',
  'grpc-unary': 'types',
  limiter: 'types',
  ratelimit: 'types',
}

/**
 * Published packages that contain a part of another package: the folder with the declarations of
 * that part, and the name of the other package.
 */
const parts: { readonly [name: string]: { readonly [folder: string]: string } } = {
  limiter: { [typesFolder]: '@portcullis/ratelimit' },
}

/** The packages of this repository that an archive contains, by the name of their folder there. */
export function toInsideNames({
  name,
  inside,
}: Pick<PublishedPackage, 'name' | 'inside'>): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(inside.map((each) => [each.name, each.manifest.name])),
    ...parts[name],
  }
}

/**
 * Compiles the packages that are bundled into published packages. It must run before those are
 * built.
 */
export async function buildInsidePackages(): Promise<void> {
  for (const built of findInsidePackages()) {
    const { './*': target } = built.manifest.exports
    if (target !== './src/*.ts') {
      throw new BuildError(
        `${built.manifest.name} is bundled into other packages, so its "exports" must be one line: ` +
          '"./*": "./src/*.ts"',
      )
    }
    await compile(built)
  }
}

/**
 * Compiles a package into its dist folder and prepares that folder for `npm pack`.
 * @returns what a consumer can import
 */
export async function buildPackage(published: PublishedPackage): Promise<readonly Subpath[]> {
  const { name, folder, dist, manifest, inside } = published
  await compile(published)
  for (const each of inside) {
    cpSync(join(each.dist, 'lib'), join(dist, each.name), { recursive: true })
  }
  correctReferences(published)
  copyFiles(published)
  await ownSteps[name]?.(dist)

  const insideNames = toInsideNames(published)
  const commonJs = commonJsSupport[name] ?? 'none'
  if (commonJs !== 'none') {
    const modules = toPublishedManifest(manifest, insideNames)
    const subpaths = listSubpaths(modules, listFiles(dist))
    if (commonJs === 'modules') await writeCommonJs(dist, subpaths)
    else writeCommonJsTypes(dist, subpaths, findModulesOnly(manifest))
  }
  const publishedManifest = toPublishedManifest(manifest, insideNames, commonJs)
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(publishedManifest, null, 2)}\n`)
  copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
  const repository = toRepositoryUrl(manifest)
  const publish = (text: string, path: string) => toPublishedText(text, path, repository)
  writeFileSync(join(dist, 'README.md'), publish(readReadme(folder), `packages/${name}`))
  const changes = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
  writeFileSync(join(dist, 'CHANGELOG.md'), publish(changes, `packages/${name}`))

  // It throws if an export refers to a missing file; the registry would accept such a package.
  const subpaths = listSubpaths(publishedManifest, listFiles(dist))
  for (const file of Object.values(publishedManifest.bin ?? {})) makeExecutable(dist, file)
  return subpaths
}

async function compile({ folder, dist }: BuiltPackage): Promise<void> {
  // Outputs of deleted sources must not be published.
  rmSync(dist, { recursive: true, force: true })
  mkdirSync(dist)
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  try {
    await runCommand(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: folder })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new BuildError(error.message, { cause: error })
  }
}

function correctReferences({ dist, inside }: PublishedPackage): void {
  const packages = inside.map(({ name, manifest }) => ({ name: manifest.name, folder: name }))
  for (const file of listFiles(dist)) {
    const path = join(dist, file)
    const before = readFileSync(path, 'utf8')
    const compiled = file.endsWith('.js')
      ? toJavaScriptPrograms(before)
      : toJavaScriptImports(before)
    const after = toInsideImports(compiled, file, packages)
    if (after !== before) writeFileSync(path, after)
  }
}

/** Copies files other than modules, such as migrations and templates. */
function copyFiles({ folder, dist, manifest }: PublishedPackage): void {
  for (const pattern of manifest.files ?? []) {
    const files = globSync(pattern, { cwd: folder })
    if (files.length === 0) throw new BuildError(`"files": ${pattern} matches no file`)
    for (const file of files) {
      const target = join(dist, toPublishedPath(file.replaceAll(sep, '/')))
      mkdirSync(dirname(target), { recursive: true })
      copyFileSync(join(folder, file), target)
    }
  }
}

/**
 * Converts a text for readers outside of the repository: relative links become addresses, and the section
 * "In the repository" is left out.
 * @param path the path of its folder in the repository
 */
export function toPublishedText(markdown: string, path: string, repositoryUrl: string): string {
  const forUsers = markdown.replace(/\n## In the repository\n[\s\S]*/, '')
  const folder = new URL(`${repositoryUrl}/blob/main/${path}${path === '' ? '' : '/'}`)
  return forUsers.replace(
    /(!?)\[([^\]]+)\]\((?![a-z]+:|#)([^)]*)\)/g,
    (_, image: string, text: string, target: string) => {
      const { href } = new URL(target, folder)
      const shown = image === '' ? href : href.replace('/blob/', '/raw/')
      return `${image}[${text}](${shown})`
    },
  )
}

function toRepositoryUrl({ name, repository }: PublishedPackage['manifest']): string {
  const url = Object(repository).url
  const address = typeof url === 'string' ? /^git\+(https:.+)\.git$/.exec(url)?.[1] : undefined
  if (address !== undefined) return address
  throw new BuildError(`${name} needs a "repository" with an address such as git+https://….git`)
}

function readReadme(folder: string): string {
  const path = join(folder, 'README.md')
  if (!existsSync(path)) throw new BuildError(`A published package needs a README.md: ${path}`)
  return readFileSync(path, 'utf8')
}

/** The dependencies and frameworks that have only ES modules, and so no declarations for CommonJS. */
function findModulesOnly({ dependencies, devDependencies }: DevelopmentManifest): string[] {
  return Object.keys({ ...dependencies, ...Object(devDependencies) }).filter((name) => {
    const file = join(root, 'node_modules', name, 'package.json')
    const isOurs = name.startsWith('@portcullis/')
    return !isOurs && existsSync(file) && readJson<{ type?: string }>(file).type === 'module'
  })
}

function makeExecutable(dist: string, file: string): void {
  const path = join(dist, file)
  if (!existsSync(path)) throw new BuildError(`"bin" refers to a missing file: ${file}`)
  if (!readFileSync(path, 'utf8').startsWith('#!/usr/bin/env node\n')) {
    throw new BuildError(
      `The command ${file} must begin with "#!/usr/bin/env node": write it as the first line of ` +
        'its source',
    )
  }
  chmodSync(path, 0o755)
}
