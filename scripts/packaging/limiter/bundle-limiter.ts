import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { BuildError } from '../build-error.ts'
import { listFiles } from '../list-files.ts'
import type { PublishedManifest } from '../published-manifest.ts'
import { readJson, root } from '../published-packages.ts'
import { listSubpaths } from '../subpaths.ts'

const source = '@portcullis/ratelimit'
const name = '@portcullis/limiter'

/** The folder of the source's declarations in the archive. */
export const typesFolder = 'types'

/** Threads are started by the path of their file, which is beside the chunks. */
const threads = { 'parse-worker': 'lib/rules/yaml/parse-worker.js' }

/** The list of counter stores also imports their settings for the service, which a limiter does not use. */
const withoutServiceSettings: Plugin = {
  name: 'without settings of the service',
  setup({ onResolve, onLoad }) {
    const namespace = 'settings of the service'
    onResolve({ filter: /^\.\/\w+\/plugin\.js$/ }, () => ({ path: 'none', namespace }))
    onLoad({ filter: /^/, namespace }, () => ({ contents: 'export {}' }))
  },
}

/**
 * Adds the part of the rate limit package that the modules re-export: their code as a few bundled
 * files, since a hundred small ones take ten times as long to load, and their declarations
 * unchanged.
 */
export async function bundleLimiter(dist: string): Promise<void> {
  const from = join(root, 'packages', 'ratelimit', 'dist')
  if (!existsSync(from)) throw new BuildError(`${source} must be built before ${name}`)
  const manifest: PublishedManifest = readJson(join(from, 'package.json'))
  const targets = new Map(
    listSubpaths(manifest, listFiles(from)).map((each) => [each.specifier, each]),
  )
  const entryPoints: { [output: string]: string } = {}
  const declarations: string[] = []
  for (const file of listFiles(dist).filter((each) => each.endsWith('.d.ts'))) {
    const specifier = readReexport(join(dist, file))
    const target = targets.get(specifier)
    if (target === undefined) throw new BuildError(`${specifier} is not exported`)
    const output = file.slice('lib/'.length, -'.d.ts'.length)
    entryPoints[output] = join(from, target.file)
    declarations.push(target.types.slice(2))
    const toRoot = '../'.repeat(file.split('/').length - 1)
    const path = `${toRoot}${typesFolder}/${target.file.slice(2)}`
    writeFileSync(join(dist, file), `export * from '${path}'\n`)
  }
  for (const [output, file] of Object.entries(threads)) entryPoints[output] = join(from, file)
  await build({
    entryPoints,
    outdir: join(dist, 'lib'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    packages: 'external',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    plugins: [withoutServiceSettings],
  })
  copyDeclarations(from, join(dist, typesFolder), declarations)
}

/** Returns the specifier that a module re-exports: each module of the package is a single re-export. */
function readReexport(file: string): string {
  const specifier = /^export \* from '([^']+)';?\s*$/.exec(readFileSync(file, 'utf8'))?.[1]
  if (specifier === undefined) throw new BuildError(`${file} must only re-export a module`)
  return specifier
}

/** Copies declarations together with everything that they import. */
function copyDeclarations(from: string, to: string, files: readonly string[]): void {
  const seen = new Set(files)
  for (const file of seen) {
    const text = readFileSync(join(from, file), 'utf8')
    for (const [, path = ''] of text.matchAll(/(?:from |import\()'(\.[^']+)\.js'/g)) {
      seen.add(`${posix.join(posix.dirname(file), path)}.d.ts`)
    }
    mkdirSync(dirname(join(to, file)), { recursive: true })
    writeFileSync(join(to, file), text.replaceAll(source, name))
  }
}
