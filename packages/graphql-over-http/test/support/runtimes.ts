import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '..', 'runtimes')
const installer = join(import.meta.dirname, '../../../../scripts/install.mjs')

const exe = process.platform === 'win32' ? '.exe' : ''

/** The package with Node for this system, as in scripts/install.mjs. */
const nodePackage = [
  process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node',
  process.platform === 'win32' ? 'win' : process.platform,
  process.arch,
].join('-')

/** The path of each runtime below the project in `test/runtimes`. */
const places = {
  bun: 'bun/bin/bun.exe',
  deno: `deno/deno${exe}`,
  node22: `${nodePackage}/bin/node${exe}`,
  'uws-pack': 'uws-pack',
}

export type RuntimeName = keyof typeof places

let isInstalled = false

/**
 * The path of another runtime's executable, or of the uws-pack package. They take half a gigabyte,
 * so they are not part of the main install: the first test that needs one installs them, and the
 * others wait for it.
 */
export function runtime(name: RuntimeName): string {
  if (!isInstalled) install()
  return join(folder, 'node_modules', places[name])
}

function install(): void {
  try {
    execFileSync(process.execPath, [installer, folder], { stdio: ['ignore', 'inherit', 'inherit'] })
  } catch (cause) {
    throw new Error('The other runtimes could not be installed; the reason is above.', { cause })
  }
  isInstalled = true
}
