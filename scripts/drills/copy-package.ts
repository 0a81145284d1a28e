import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type { Copy, Drill, Index } from './drill.ts'

const root = dirname(dirname(import.meta.dirname))

export interface PackageCopy extends Copy, AsyncDisposable {
  /** @returns the output of the type checker; empty if there are no errors. */
  checkTypes(): Promise<string>
  /** @returns the output of a program of the package. */
  run(program: string, ...args: readonly string[]): Promise<string>
}

/** Copies a package to a temporary folder, and adds the fakes of its drills. */
export async function copyPackage(name: string, drills: readonly Drill[]): Promise<PackageCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-drill-'))
  const original = join(root, 'packages', name)
  const copy = join(folder, 'packages', name)
  await mkdir(copy, { recursive: true })
  for (const part of ['src', 'package.json', 'bundle']) {
    if (!existsSync(join(original, part))) continue
    await cp(join(original, part), join(copy, part), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await cp(join(root, 'tsconfig.base.json'), join(folder, 'tsconfig.base.json'))
  const tsconfig = { extends: './tsconfig.base.json', include: ['packages/*/src'] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  for (const drill of drills) await addFake(copy, drill)

  return {
    checkTypes: () =>
      run(folder, join(root, 'node_modules/.bin/tsc'), [
        ...['--noEmit', '--pretty', 'false', '--checkers', '1'],
      ]),
    run: (program, ...args) => run(folder, process.execPath, [join(copy, program), ...args]),
    load: (path) => import(pathToFileURL(join(copy, path)).href),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true })
    },
  }
}

async function addFake(copy: string, drill: Drill): Promise<void> {
  const { file, source, furtherFiles, exported, index } = drill
  for (const [path, text] of Object.entries({ [file]: source, ...furtherFiles })) {
    await writeFile(join(copy, path), text, { flag: 'wx' })
  }
  const indexFile = join(copy, index.file)
  const path = relative(dirname(index.file), file)
  const specifier = path.startsWith('.') ? path : `./${path}`
  const line = exported === undefined ? '' : `import { ${exported} } from '${specifier}'\n`
  await writeFile(indexFile, line + addEntry(await readFile(indexFile, 'utf8'), exported, index))
}

/**
 * Returns the text with one more entry at the beginning of `const list = {` or `const list: Type =
 * [`.
 */
function addEntry(
  text: string,
  exported: string | undefined,
  { file, list, entry = exported }: Index,
): string {
  const beginning = new RegExp(`const ${list}\\b.* = [{[]`)
  if (!beginning.test(text)) throw new Error(`${file} has no const ${list}`)
  return text.replace(beginning, (found) => `${found} ${entry},`)
}

// tsc is a short-lived Go program, which needs less CPU time without garbage collection.
const env = { GOGC: 'off', GOMEMLIMIT: '3GiB', ...process.env }

async function run(cwd: string, program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return output + errors
}
