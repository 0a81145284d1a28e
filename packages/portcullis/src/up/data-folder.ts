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
import { makeFolder } from '@portcullis/service-kit/make-folder'
import { UpRefusal } from './errors.ts'
import type { Ports } from './ports.ts'
import { checkIsNoLink, checkOwnership, readPrivateFile, replaceFile } from './private-files.ts'
import { parseSecrets, secretsFile } from './secrets.ts'

/** Git sees nothing of the folder, whoever's repository it is in. */
const ignoreFile = { name: '.gitignore', text: '# Made by portcullis up.\n*\n' }

/** All that starts leave behind. A folder may hold more, which is never touched. */
const keptEntries = [
  'auth.env',
  'database',
  'logs',
  'mailbox',
  'rules',
  ignoreFile.name,
  // Last: without it the folder would not count as ours, should the removal be interrupted.
  secretsFile,
]

export const lockFile = 'running.json'

/** Where up and what it starts write. Rules are only written by their owner, who may keep them elsewhere. */
const writtenEntries = ['auth.env', 'logs', 'mailbox', ignoreFile.name, secretsFile, lockFile]
const writtenFolders = ['logs', 'mailbox']

/**
 * Looks, and changes nothing.
 * @throws {UpRefusal} when the folder is somebody else's, or in use
 */
export function checkFolder(folder: string): void {
  checkOwnership(folder)
  const occupation = findOccupation(folder)
  if (occupation !== undefined) throw inUse(folder)
  const entries = listEntries(folder)
  if (entries.length === 0 || basename(folder) === '.portcullis' || isOurs(folder)) return
  throw new UpRefusal(
    `${folder} holds other files, and up keeps its own in a folder of its own. ` +
      'Name one that is new or empty: --data DIR',
  )
}

/** Makes the folder ready for a start. @throws {UpRefusal} */
export function takeFolder(folder: string, isFresh: boolean): FolderLock {
  try {
    makeFolder(folder, 0o700)
    checkOwnership(folder)
    chmodSync(folder, 0o700)
  } catch (error) {
    if (error instanceof UpRefusal) throw error
    throw new UpRefusal(`${folder} cannot be used: ${toReason(error)}. Name another: --data DIR`)
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
  // When root runs up, PostgreSQL runs as another user, whose the database is; auth checks that.
  checkIsNoLink(join(folder, 'database'))
  for (const name of writtenFolders) {
    const below = join(folder, name)
    for (const entry of listEntries(below)) checkOwnership(join(below, entry))
  }
}

function empty(folder: string): void {
  const kept = listEntries(folder).filter((name) => keptEntries.includes(name))
  if (kept.length > 0 && !isOurs(folder)) {
    throw new UpRefusal(
      `${folder} has no ${secretsFile} of ours, so --fresh does not remove what is there. ` +
        'Remove it yourself, or name another folder: --data DIR',
    )
  }
  for (const name of keptEntries) rmSync(join(folder, name), { recursive: true, force: true })
}

/** A broken file of secrets does not make a folder a stranger's. */
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw new UpRefusal(`${folder} cannot be used: ${toReason(error)}. Name another: --data DIR`)
  }
}

function inUse(folder: string): UpRefusal {
  const { pid, ports } = findOccupation(folder) ?? {}
  const where = ports?.console === undefined ? '' : `, with its console on port ${ports.console}`
  const who = pid === undefined ? 'Another process' : `The process ${pid}`
  return new UpRefusal(
    `${who} has ${folder} already${where}. Stop it first, or start another one beside it: ` +
      '--data DIR --port-base 0',
  )
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Who is at work on a data folder, and where. */
export interface Occupation {
  readonly pid: number
  readonly startedAt: string
  /** Only of the parts that run. Known once they do. */
  readonly ports?: Partial<Ports>
}

interface FolderLock extends Disposable {
  /** Tells others where we are. */
  tell(ports: Partial<Ports>): void
}

/** Undefined when nobody is there, or not any more. */
export function findOccupation(folder: string): Occupation | undefined {
  try {
    const found: Occupation = JSON.parse(readPrivateFile(join(folder, lockFile)) ?? '')
    return readStartOf(found.pid) === found.startedAt ? found : undefined
  } catch {
    return undefined
  }
}

/** Undefined when somebody else has it. What a killed process has left is no obstacle. */
function lockFolder(folder: string): FolderLock | undefined {
  if (findOccupation(folder) !== undefined) return undefined
  const path = join(folder, lockFile)
  const own: Occupation = { pid: process.pid, startedAt: readStartOf(process.pid) ?? 'unknown' }
  const toText = (occupation: Occupation) => `${JSON.stringify(occupation, undefined, 2)}\n`
  const release = () => rmSync(path, { force: true })
  release()
  try {
    writeFileSync(path, toText(own), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined
    throw error
  }
  process.once('exit', release)
  return {
    tell(ports) {
      replaceFile(`${path}.new`, toText({ ...own, ports }))
      renameSync(`${path}.new`, path)
    },
    [Symbol.dispose]() {
      process.off('exit', release)
      release()
    },
  }
}

/**
 * When a process was started, in the system's own words; undefined when there is no such process.
 * Its number may be another's tomorrow, the pair of both not.
 */
export function readStartOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') return askPs(pid)
    // The second field is the program's name in parentheses, with anything in it.
    const [, rest = ''] = /^.*\)\s(.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    const fields = rest.split(' ')
    const isGone = fields[0] === 'Z' || fields[0] === 'X'
    return isGone ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function askPs(pid: number): string {
  return execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}

const starters = join(import.meta.dirname, '../../rules')

/** The rule files of a data folder: at the first start copies of ours, from then on its owner's. */
export function provideRules(folder: string): string {
  const rules = toRulesDirectory(folder)
  if (!existsSync(rules)) cpSync(starters, rules, { recursive: true })
  return rules
}

export function toRulesDirectory(folder: string): string {
  return join(folder, 'rules')
}
