import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { runtime } from '../test/support/runtimes.ts'

/** Where a contender's packages come from: the root install, or a folder installed on demand. */
export type InstallLocation = 'root' | 'peers' | 'runtimes'

/** The other servers of the comparison. */
const peersFolder = join(import.meta.dirname, 'peers')

/** Shared with the tests: uWebSockets, and the Node 22 that it has a binary for. */
export const runtimesFolder = join(import.meta.dirname, '..', 'test', 'runtimes')

const folders = { root: import.meta.dirname, peers: peersFolder, runtimes: runtimesFolder } as const

const installer = join(import.meta.dirname, '..', '..', '..', 'scripts', 'install.mjs')

/** Installs missing packages and says so; the lock file of each folder pins the versions. */
export async function install(homes: ReadonlySet<InstallLocation>): Promise<void> {
  const { ensureInstalled } = await import(installer)
  for (const home of homes) if (home !== 'root') await ensureInstalled(folders[home])
}

/** The Node that a contender runs on. */
export function nodeOf(home: InstallLocation): string {
  return home === 'runtimes' ? runtime('node22') : process.execPath
}

/** Version of an installed package, looked up from the folder of the contender. */
export function versionOf(packageName: string, home: InstallLocation): string {
  for (const path of createRequire(join(folders[home], 'x.js')).resolve.paths(packageName) ?? []) {
    const file = join(path, packageName, 'package.json')
    if (existsSync(file)) return String(createRequire(file)(file).version)
  }
  throw new Error(`The package ${packageName} is not installed`)
}
