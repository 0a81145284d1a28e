import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { appendFile, chmod, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine } from './machine.ts'
import { killInside, listInside } from './processes-inside.ts'
import { run } from './run.ts'
import { type User, type UserName, users } from './users.ts'

const repository = resolve(import.meta.dirname, '../..')

/** A system in a folder, with a clone of this repository that belongs to the system's user. */
export interface BareSystem {
  readonly folder: string
  readonly user: User
  /** The path of the clone inside the system. */
  readonly project: string
  readonly environment: Readonly<Record<string, string>>
  killAll(): void
  remove(): Promise<void>
  removeAtOnce(): void
}

export async function openBareSystem({
  base,
  machine,
  user: userName,
}: {
  readonly base: string
  readonly machine: Machine
  readonly user: UserName
}): Promise<BareSystem> {
  const user = users[userName]
  const folder = mkdtempSync(join(tmpdir(), `portcullis-bare-${userName}-`))
  const project = `${user.home}/portcullis`
  const removeAtOnce = () => {
    killInside(folder)
    // While a process still has a mount in the folder, a deletion would also delete what is mounted.
    if (!readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${folder}/`)) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    }
  }
  try {
    await run('tar', ['--extract', '--numeric-owner', '--file', base, '-C', folder])
    await chmod(folder, 0o755)
    await addUser(folder, userName, user)
    addNode(folder, machine)
    const environment = await addSettings(folder, user, machine)
    const clone = join(folder, project)
    await run('git', ['clone', '--quiet', '--depth', '1', `file://${repository}`, clone])
    await run('chown', ['-R', `${user.id}:${user.id}`, join(folder, user.home)])
    return {
      folder,
      user,
      project,
      environment: { ...environment, PATH: user.path, HOME: user.home, USER: userName },
      killAll: () => killInside(folder),
      removeAtOnce,
      async remove() {
        killInside(folder)
        while (listInside(folder).length > 0) await sleep(50)
        removeAtOnce()
      },
    }
  } catch (error) {
    removeAtOnce()
    throw error
  }
}

async function addUser(folder: string, name: UserName, { id, home }: User): Promise<void> {
  if (id === 0) return
  await appendFile(join(folder, 'etc/passwd'), `${name}:x:${id}:${id}::${home}:/bin/bash\n`)
  await appendFile(join(folder, 'etc/group'), `${name}:x:${id}:\n`)
  mkdirSync(join(folder, home))
}

export function addNode(
  folder: string,
  { node, npmFolder }: Pick<Machine, 'node' | 'npmFolder'>,
): void {
  cpSync(node, join(folder, 'usr/local/bin/node'))
  const modules = join(folder, 'usr/local/lib/node_modules')
  cpSync(npmFolder, join(modules, 'npm'), { recursive: true })
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(folder, 'usr/local/bin', name))
  }
}

/**
 * Copies the settings that this machine needs to reach its registries; returns the environment
 * variables.
 */
export async function addSettings(
  folder: string,
  user: User,
  machine: Machine,
): Promise<Record<string, string>> {
  for (const path of ['/etc/resolv.conf', '/etc/hosts', '/etc/apt/auth.conf']) copy(folder, path)
  for (const path of ['/etc/apt/auth.conf.d', '/etc/apt/trusted.gpg.d', '/etc/apt/keyrings']) {
    copy(folder, path)
  }
  const sources = machine.sources.map(
    ({ uri, suite, component }) => `deb ${uri} ${suite} ${component}\n`,
  )
  await writeFile(join(folder, 'etc/apt/sources.list'), sources.join(''))
  await writeFile(join(folder, 'etc/apt/apt.conf.d/90machine'), `${machine.aptSettings}\n`)
  await writeFile(join(folder, user.home, '.npmrc'), machine.npmSettings)
  await writeFile(join(folder, 'etc/pip.conf'), machine.pipSettings)
  // The files are copied to another folder, because a system package would overwrite certificates.
  const place = '/opt/machine'
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(machine.environment)) {
    const isPath = value.startsWith('/') && existsSync(value)
    if (isPath) copy(folder, value, `${place}${value}`)
    environment[name] = isPath ? `${place}${value}` : value
  }
  return environment
}

function copy(folder: string, path: string, target = path): void {
  if (!existsSync(path)) return
  cpSync(path, join(folder, target), { recursive: true, dereference: true, force: true })
}
