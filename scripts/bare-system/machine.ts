import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join, resolve, sep } from 'node:path'
import { run } from './run.ts'

const root = resolve(import.meta.dirname, '../..')

/** One line of a sources.list. */
interface Source {
  readonly uri: string
  readonly suite: string
  readonly component: string
}

/** What a minimal system gets from this machine: its Node, and the access to its registries. */
export interface Machine {
  readonly codename: string
  readonly architecture: string
  readonly mirror: string
  readonly sources: readonly Source[]
  /** Download settings of apt, such as a proxy. */
  readonly aptSettings: string
  readonly node: string
  readonly npmFolder: string
  /** The text of the npm configuration files, without their paths. */
  readonly npmSettings: string
  readonly pipSettings: string
  /** Variables that define proxies, certificates and registries. */
  readonly environment: Readonly<Record<string, string>>
}

export async function readMachine(): Promise<Machine> {
  const codename = readCodename()
  const sources = await readSources(codename)
  const mirror = sources.find(({ suite }) => suite === codename)?.uri
  if (mirror === undefined) throw new Error(`apt has no source for Debian ${codename}.`)
  const npm = findOnPath('npm')
  const npmFolder = dirname(dirname(npm))
  return {
    codename,
    architecture: (await run('dpkg', ['--print-architecture'])).trim(),
    mirror,
    sources,
    aptSettings: await readAptSettings(),
    node: findOnPath('node'),
    npmFolder,
    npmSettings: await readNpmSettings(npm),
    pipSettings: readFirst(['/etc/pip.conf', `${process.env['HOME']}/.config/pip/pip.conf`]),
    environment: await readEnvironment(npm),
  }
}

function readCodename(): string {
  const text = readFirst(['/etc/os-release'])
  const codename = /^VERSION_CODENAME=["']?([\w-]+)/m.exec(text)?.[1]
  if (!/^ID=["']?debian["']?$/m.test(text) || codename === undefined) {
    throw new Error(
      'bare-system runs on Debian only: its base comes from the mirror of this machine.',
    )
  }
  return codename
}

/** Only Debian's own packages, because a minimal system has no other sources. */
async function readSources(codename: string): Promise<readonly Source[]> {
  const format = '$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)'
  const read = async () => {
    const args = ['indextargets', '--format', format, 'Created-By: Packages']
    const lines = (await run('apt-get', args)).trim().split('\n')
    return lines.flatMap((line) => {
      const [uri = '', suite = '', component = '', origin] = line.split('|')
      const isDebian = origin === 'Debian' && suite.startsWith(codename)
      return isDebian ? [{ uri, suite, component }] : []
    })
  }
  const known = await read()
  if (known.length > 0) return known
  // apt knows the origin of a source only after it has downloaded its lists.
  await run('apt-get', ['update', '--quiet'])
  return read()
}

async function readAptSettings(): Promise<string> {
  const lines = (await run('apt-config', ['dump', 'Acquire'])).split('\n')
  const isOfSystem = /^Acquire(?:::(?:IndexTargets|cdrom|Changelogs|GzipIndexes)\b| )/
  return lines
    .filter((line) => line !== '' && !isOfSystem.test(line) && !/ "";$/.test(line))
    .join('\n')
}

/** The file of a command of this machine, ignoring the pinned Node of this repository. */
function findOnPath(name: string): string {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const file = join(folder, name)
    if (folder === '' || !existsSync(file)) continue
    const real = realpathSync(file)
    if (!real.startsWith(root + sep)) return real
  }
  throw new Error(`${name} was not found in PATH outside this repository.`)
}

async function readNpmSettings(npm: string): Promise<string> {
  const files = await Promise.all(
    ['globalconfig', 'userconfig'].map((name) => readNpmSetting(npm, name)),
  )
  const texts = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'))
  return texts.join('\n')
}

async function readNpmSetting(npm: string, name: string): Promise<string> {
  const value = await run(findOnPath('node'), [npm, 'config', 'get', name])
  return value.trim()
}

const registrySetting =
  /(?:proxy|cert|_ca(?:_|$)|ca_bundle|^ssl_|^pip_|^npm_config_(?:registry|cafile|.*proxy))/i

async function readEnvironment(npm: string): Promise<Readonly<Record<string, string>>> {
  const found = Object.entries(process.env).flatMap(([name, value]) => {
    return value !== undefined && registrySetting.test(name) ? [[name, value]] : []
  })
  // npm's configuration may name the file, which has another path in the minimal system.
  const certificates = await readNpmSetting(npm, 'cafile')
  const isNamed = certificates !== '' && certificates !== 'null'
  return { ...Object.fromEntries(found), ...(isNamed && { npm_config_cafile: certificates }) }
}

function readFirst(paths: readonly string[]): string {
  const found = paths.find((path) => existsSync(path))
  return found === undefined ? '' : readFileSync(found, 'utf8')
}
