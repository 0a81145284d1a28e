import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { makeFolder } from '@portcullis/service-kit/process/make-folder'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import { UpRefusal } from './errors.ts'
import type { Ports } from './ports.ts'
import {
  checkOwnership,
  readPrivateFile,
  refuseSymbolicLink,
  replaceFile,
} from './private-files.ts'
import { parseSecrets, secretsFile } from './secrets.ts'

/** Keeps the folder out of any Git repository. */
const ignoreFile = { name: '.gitignore', text: '# Made by portcullis up.\n*\n' }

/** The file in which the console stores the history of the rules. */
export const limitsHistoryFile = 'limits-history.json'

/** Everything that `up` creates. Other files in the folder are never touched. */
const keptEntries = [
  'auth.env',
  'database',
  limitsHistoryFile,
  'logs',
  'mailbox',
  'rules',
  ignoreFile.name,
  // Removed last: if the removal is interrupted, the folder is still recognized as created by `up`.
  secretsFile,
]

export const lockFile = 'running.json'

/** The entries that `up` and its services write to. Rules are not among them: only the user edits those. */
const writtenEntries = [
  'auth.env',
  limitsHistoryFile,
  'logs',
  'mailbox',
  ignoreFile.name,
  secretsFile,
  lockFile,
]
const writtenFolders = ['logs', 'mailbox']

/**
 * Checks the folder without changing it.
 * @throws {UpRefusal} if the folder belongs to another user or contains other files, or is in use
 */
export function checkFolder(folder: string): void {
  checkOwnership(folder)
  if (findFolderUser(folder) !== undefined) throw inUse(folder)
  const entries = listEntries(folder)
  if (entries.length === 0 || basename(folder) === '.portcullis' || isOurs(folder)) return
  throw new UpRefusal(
    `${folder} contains other files, but up needs a separate folder. ` +
      'Choose a new or empty folder with --data DIR.',
  )
}

/** Prepares the folder for a start. @throws {UpRefusal} */
export function takeFolder(folder: string, isFresh: boolean): FolderLock {
  try {
    makeFolder(folder, 0o700)
    checkOwnership(folder)
    chmodSync(folder, 0o700)
  } catch (error) {
    if (error instanceof UpRefusal) throw error
    throw new UpRefusal(
      `${folder} cannot be used: ${toReason(error)}. Choose another folder with --data DIR.`,
    )
  }
  const lock = lockFolder(folder)
  if (lock === undefined) throw inUse(folder)
  try {
    if (isFresh) empty(folder)
    checkEntries(folder)
    replaceFile(join(folder, ignoreFile.name), ignoreFile.text)
    return lock
  } catch (error) {
    lock[Symbol.dispose]()
    throw error
  }
}

function checkEntries(folder: string): void {
  for (const name of writtenEntries) checkOwnership(join(folder, name))
  // If root runs `up`, PostgreSQL runs as another user, who owns the database; auth checks that.
  refuseSymbolicLink(join(folder, 'database'))
  for (const name of writtenFolders) {
    const below = join(folder, name)
    for (const entry of listEntries(below)) checkOwnership(join(below, entry))
  }
}

function empty(folder: string): void {
  const kept = listEntries(folder).filter((name) => keptEntries.includes(name))
  if (kept.length > 0 && !isOurs(folder)) {
    throw new UpRefusal(
      `${folder} contains no valid ${secretsFile}, so --fresh does not delete its files. ` +
        'Delete them yourself, or choose another folder with --data DIR.',
    )
  }
  for (const name of keptEntries) rmSync(join(folder, name), { recursive: true, force: true })
}

/** A folder with a damaged secrets file still counts as created by `up`. */
function isOurs(folder: string): boolean {
  const read = (name: string) => {
    try {
      return readPrivateFile(join(folder, name))
    } catch (error) {
      if (error instanceof UpRefusal) return undefined
      throw error
    }
  }
  const secrets = read(secretsFile)
  if (secrets === undefined) return false
  return parseSecrets(secrets) !== undefined || read(ignoreFile.name) === ignoreFile.text
}

function listEntries(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (toCode(error) === 'ENOENT') return []
    throw new UpRefusal(
      `${folder} cannot be used: ${toReason(error)}. Choose another folder with --data DIR.`,
    )
  }
}

function inUse(folder: string): UpRefusal {
  const { pid, ports } = findFolderUser(folder) ?? {}
  const where = ports?.console === undefined ? '' : `, with its console on port ${ports.console}`
  const who = pid === undefined ? 'Another process' : `Process ${pid}`
  return new UpRefusal(
    `${who} is already using ${folder}${where}. Stop it first, or start a second instance with ` +
      '--data DIR --port-base 0.',
  )
}

/** The process that is using a data folder. */
export interface FolderUser {
  readonly pid: number
  readonly startedAt: string
  /** Only the ports of the running parts; known once they run. */
  readonly ports?: Partial<Ports>
  /** The address that the parts listen on; known together with the ports. */
  readonly host?: string
}

interface FolderLock extends Disposable {
  /** Publishes the ports, and the address that they are opened on, for other processes. */
  publishPorts(ports: Partial<Ports>, host: string): void
}

/** Undefined if no running process uses the folder. */
export function findFolderUser(folder: string): FolderUser | undefined {
  try {
    const found: FolderUser = JSON.parse(readPrivateFile(join(folder, lockFile)) ?? '')
    return readStartOf(found.pid) === found.startedAt ? found : undefined
  } catch {
    return undefined
  }
}

/** Undefined if another process uses the folder. A lock left by a killed process is ignored. */
function lockFolder(folder: string): FolderLock | undefined {
  if (findFolderUser(folder) !== undefined) return undefined
  const path = join(folder, lockFile)
  const thisProcess: FolderUser = {
    pid: process.pid,
    startedAt: readStartOf(process.pid) ?? 'unknown',
  }
  const toText = (user: FolderUser) => `${JSON.stringify(user, undefined, 2)}\n`
  const release = () => rmSync(path, { force: true })
  release()
  try {
    writeFileSync(path, toText(thisProcess), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (toCode(error) === 'EEXIST') return undefined
    throw error
  }
  process.once('exit', release)
  return {
    publishPorts(ports, host) {
      replaceFile(`${path}.new`, toText({ ...thisProcess, host, ports }))
      renameSync(`${path}.new`, path)
    },
    [Symbol.dispose]() {
      process.off('exit', release)
      release()
    },
  }
}

/**
 * Returns the start time of a process as the system reports it; undefined if the process does not exist.
 * Process ids are reused, but not together with the same start time.
 */
export function readStartOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') return runPs(pid)
    // The second field is the program's name in parentheses, which may itself contain spaces and parentheses.
    const [, rest = ''] = /^.*\)\s(.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    const fields = rest.split(' ')
    const isGone = fields[0] === 'Z' || fields[0] === 'X'
    return isGone ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function runPs(pid: number): string {
  return execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}

const starters = join(import.meta.dirname, '../../rules')

/** Returns the rules folder; at the first start it is filled with the example rules. */
export function provideRules(folder: string): string {
  const rules = toRulesDirectory(folder)
  if (!existsSync(rules)) cpSync(starters, rules, { recursive: true })
  return rules
}

export function toRulesDirectory(folder: string): string {
  return join(folder, 'rules')
}
