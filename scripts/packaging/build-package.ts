import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, sep } from 'node:path'
import { BuildError } from './build-error.ts'
import { toPublishedManifest } from './published-manifest.ts'
import { type PublishedPackage, root } from './published-packages.ts'
import { CommandError, runCommand } from './run-command.ts'
import { listSubpaths } from './subpaths.ts'

/** Compiles a package into its dist folder and makes that folder ready for `npm pack`. */
export async function buildPackage({ folder, dist, manifest }: PublishedPackage): Promise<void> {
  // What a source that is gone left behind must not be published.
  rmSync(dist, { recursive: true, force: true })
  mkdirSync(dist)
  await compile(folder)
  correctDeclarations(dist)

  const published = toPublishedManifest(manifest)
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  writeFileSync(join(dist, 'README.md'), withoutRepositoryLinks(readme))

  // For its errors: the registry would take a package whose exports lead nowhere.
  listSubpaths(published, listFiles(dist))
  for (const file of Object.values(published.bin ?? {})) makeExecutable(dist, file)
}

/** Paths of all files below a folder, with forward slashes, as an archive and an import have them. */
export function listFiles(folder: string): string[] {
  return globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((file) => file.replaceAll(sep, '/'))
    .sort()
}

async function compile(folder: string): Promise<void> {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  try {
    await runCommand(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: folder })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new BuildError(error.message, { cause: error })
  }
}

/**
 * The compiler gives imports in JavaScript their `.js`, but leaves `.ts` in declarations
 * (TypeScript 7.0). Compilers find the `.d.ts` all the same, but the archive has no such file.
 */
function correctDeclarations(dist: string): void {
  for (const file of globSync('**/*.d.ts', { cwd: dist })) {
    const path = join(dist, file)
    writeFileSync(path, toJavaScriptImports(readFileSync(path, 'utf8')))
  }
}

export function toJavaScriptImports(declarations: string): string {
  // Not in comments: the examples there are about the reader's files.
  return declarations.replace(/^(?!\s*(?:\*|\/\/)).*$/gm, (line) =>
    line.replace(/(\bfrom |\bimport\(|\bimport )(['"])(\.\.?\/[^'"]+)\.ts\2/g, '$1$2$3.js$2'),
  )
}

/** Links into the repository lead nowhere from the registry: their text stays. */
export function withoutRepositoryLinks(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\((?![a-z]+:|#)[^)]*\)/g, '$1')
}

function makeExecutable(dist: string, file: string): void {
  const path = join(dist, file)
  if (!existsSync(path)) throw new BuildError(`"bin" leads to no file: ${file}`)
  if (!readFileSync(path, 'utf8').startsWith('#!/usr/bin/env node\n')) {
    throw new BuildError(
      `The command ${file} must begin with "#!/usr/bin/env node": write it as the first line of ` +
        'its source',
    )
  }
  chmodSync(path, 0o755)
}
