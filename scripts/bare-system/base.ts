import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installDebianPackages } from '../../packages/test-servers/src/programs/debian.ts'
import type { Machine } from './machine.ts'
import { run } from './run.ts'

/** The smallest Debian that debootstrap creates, as an archive that is created once. */
export async function provideBase(
  cache: string,
  { codename, architecture, mirror }: Machine,
): Promise<string> {
  const archive = join(cache, `debian-${codename}-${architecture}.tar`)
  if (existsSync(archive)) return archive
  await provideDebootstrap()
  console.log(`Creating a minimal Debian ${codename} (debootstrap --variant=minbase)…`)
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-bare-base-'))
  try {
    const system = join(folder, 'system')
    await run('debootstrap', ['--variant=minbase', codename, system, mirror])
    await run('tar', [
      '--create',
      '--numeric-owner',
      '--file',
      `${archive}.draft`,
      '-C',
      system,
      '.',
    ])
    renameSync(`${archive}.draft`, archive)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return archive
}

async function provideDebootstrap(): Promise<void> {
  const isThere = await run('debootstrap', ['--version']).then(
    () => true,
    () => false,
  )
  if (isThere) return
  console.log('Installing debootstrap (apt-get install debootstrap)…')
  await installDebianPackages(['debootstrap'])
}
