import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  checkPolicyTests,
  checkRules,
  isPolicyTest,
  type RuleDirectory,
  type RuleFinding,
} from '@portcullis/ratelimit/rules'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import { ConsoleError } from '../errors.ts'
import { type LimitStatistics, readStatistics } from './statistics.ts'

export interface ListedFile {
  readonly name: string
  readonly bytes: number
  readonly modifiedAt: string
}

export interface OpenedFile {
  readonly name: string
  readonly text: string
  /** A hash of the text. */
  readonly version: string
}

/** Lists the rule files and the policy tests of the folder. @throws {ConsoleError} */
export async function listRuleFiles(directory: string): Promise<ListedFile[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    throw toConsoleError(error, `The rule folder ${directory} cannot be read`)
  })
  const files = await Promise.all(
    names.filter(isRuleFileName).map(async (name): Promise<ListedFile[]> => {
      // The file may have been deleted in the meantime.
      const entry = await stat(join(directory, name)).catch(() => undefined)
      if (!entry?.isFile()) return []
      return [{ name, bytes: entry.size, modifiedAt: entry.mtime.toISOString() }]
    }),
  )
  return files.flat().sort((a, b) => (a.name < b.name ? -1 : 1))
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws {ConsoleError} 404 if the file does not exist. */
export async function readRuleFile(directory: string, name: string): Promise<OpenedFile> {
  const path = join(directory, parseRuleFileName(name))
  const bytes = await readRegularFile(path).catch((error: unknown) => {
    throw toConsoleError(error, `${name} cannot be read`)
  })
  return { name, text: decode(bytes, name), version: toVersion(bytes) }
}

/** The service does not read larger files either, unless it is configured. */
const mostBytes = 64 * 1024 * 1024

/** Windows does not have this flag. Without it, opening a named pipe would wait for its writer. */
const { O_RDONLY, O_NONBLOCK = 0 } = constants

/** Reads a link's target, as the service does. */
async function readRegularFile(path: string): Promise<Buffer> {
  await using file = await open(path, O_RDONLY | O_NONBLOCK)
  const entry = await file.stat()
  if (!entry.isFile()) throw new FileRefusal(404, 'it is not a regular file')
  if (entry.size > mostBytes) {
    throw new FileRefusal(422, `it is larger than ${mostBytes} bytes`)
  }
  return await file.readFile()
}

class FileRefusal extends Error {
  readonly status: number

  constructor(status: number, reason: string) {
    super(reason)
    this.status = status
  }
}

function decode(bytes: Uint8Array, name: string): string {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    const message = `${name} is not valid UTF-8 and cannot be edited here.`
    throw new ConsoleError(422, 'not_text', message, error)
  }
}

/**
 * Replaces a file atomically, so that the service never reads half of it.
 * @param version The version of the text that was edited; null for a new file.
 * @throws {ConsoleError} 409 if the file was changed in the meantime.
 */
export async function writeRuleFile(
  directory: string,
  { name, text, version }: { name: string; text: string; version: string | null },
): Promise<OpenedFile> {
  const path = join(directory, parseRuleFileName(name))
  await requireVersion(directory, name, version)
  const mode = version === null ? 0o644 : (await stat(path)).mode & 0o777
  // The service ignores files with this name.
  const draft = join(directory, `.portcullis-${randomUUID()}.draft`)
  try {
    await using file = await open(draft, 'wx', mode)
    await file.writeFile(text)
    await file.sync()
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw toConsoleError(error, `${name} cannot be written`)
  }
  return { name, text, version: toVersion(Buffer.from(text)) }
}

/** @throws {ConsoleError} 409 if the file has changed since the caller read it. */
export async function deleteRuleFile(
  directory: string,
  name: string,
  version: string,
): Promise<void> {
  const path = join(directory, parseRuleFileName(name))
  await requireVersion(directory, name, version)
  await rm(path).catch((error: unknown) => {
    throw toConsoleError(error, `${name} cannot be deleted`)
  })
}

async function requireVersion(
  directory: string,
  name: string,
  version: string | null,
): Promise<void> {
  const path = join(directory, name)
  const entry = await lstat(path).catch(() => undefined)
  if (version === null) {
    if (entry === undefined) return
    throw new ConsoleError(409, 'file_exists', `A file named ${name} already exists.`)
  }
  if (entry === undefined) {
    const message = `${name} no longer exists. It was deleted or renamed on disk.`
    throw new ConsoleError(409, 'file_gone', message)
  }
  // For example in a mounted ConfigMap: replacing the link would not change its target.
  if (!entry.isFile()) {
    throw new ConsoleError(
      409,
      'not_a_file',
      `${name} is a symbolic link and cannot be edited here. Edit its target.`,
    )
  }
  const found = toVersion(await readRegularFile(path))
  if (found === version) return
  const message = `${name} has changed on disk since it was opened here.`
  throw new ConsoleError(409, 'file_changed', message)
}

/** Accepts a plain file name, never a path. @throws {ConsoleError} */
export function parseRuleFileName(name: string): string {
  if (isRuleFileName(name)) return name
  const message =
    'A file needs a plain name without a path that ends in .yaml, such as api.yaml, or in .test.yaml for policy tests.'
  throw new ConsoleError(400, 'bad_file_name', message)
}

function isRuleFileName(name: string): boolean {
  return simpleName.test(name) && Buffer.byteLength(name) <= 200
}

const simpleName = /^[^.\p{C}/\\:][^\p{C}/\\:]*\.yaml$/u

function toVersion(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
}

function toConsoleError(error: unknown, what: string): ConsoleError {
  if (error instanceof ConsoleError) return error
  const [status, reason] =
    error instanceof FileRefusal
      ? [error.status, error.message]
      : (reasons[toCode(error)] ?? [500, toReason(error)])
  return new ConsoleError(status, 'file_error', `${what}: ${reason}.`, error)
}

const reasons: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  ENOENT: [404, 'the file does not exist'],
  EACCES: [403, 'permission denied'],
  EPERM: [403, 'permission denied'],
  EROFS: [403, 'the disk is read-only'],
  ENOSPC: [507, 'the disk is full'],
}

export interface TextFinding extends RuleFinding {
  /** Whether the finding prevents saving. */
  readonly isBlocking: boolean
}

/**
 * Returns the findings that the folder would have with this text. Existing errors in other files do not
 * prevent saving this one.
 */
export function checkText(directory: RuleDirectory, name: string, text: string): TextFinding[] {
  if (isPolicyTest(name)) {
    return checkPolicyTests({ name, text }).map((finding) => ({ ...finding, isBlocking: true }))
  }
  const before = new Set(checkRules(directory).findings.map(toIdentity))
  const { findings } = checkRules(withText(directory, name, text))
  return findings.map((finding) => {
    const isOld = finding.file !== name && before.has(toIdentity(finding))
    return { ...finding, isBlocking: finding.severity === 'fault' && !isOld }
  })
}

/** Returns the folder as it would be with another text of a file. */
export function withText(directory: RuleDirectory, name: string, text: string): RuleDirectory {
  const others = directory.files.filter((file) => file.name !== name)
  // A byte order mark is also dropped when a file is read.
  const file = { name, text: text.replace(/^\ufeff/, '') }
  const files = [...others, file].sort((a, b) => (a.name < b.name ? -1 : 1))
  const unreadable = directory.unreadable.filter((each) => each.name !== name)
  return { ...directory, files, unreadable }
}

function toIdentity({ severity, file, line, column, message }: RuleFinding): string {
  return JSON.stringify([severity, file, line, column, message])
}

/** Whether the service has loaded a saved file. */
export interface LoadReport {
  /** `stored` for policy tests, which the service does not load. */
  readonly state: 'loaded' | 'refused' | 'unseen' | 'stored'
  readonly message: string
}

const timeoutMs = 10_000
const pauseMs = 100

const loaded: LoadReport = { state: 'loaded', message: 'The service has loaded the file.' }
const refused: LoadReport = {
  state: 'refused',
  message:
    'The service rejected the rule files and keeps its previous rules. See its log for the reason.',
}
const unseen: LoadReport = {
  state: 'unseen',
  message:
    'The service has not loaded the file yet. It may watch another folder, or only its root (RUNTIME_WATCH_ROOT).',
}

const stored: LoadReport = {
  state: 'stored',
  message: 'The service does not load policy tests. Run them here or with ratelimit test.',
}

/** Changes a file and waits until the service has loaded or rejected it. */
export async function changeAndAwaitLoad<Result>(
  debugUrl: string,
  name: string,
  change: () => Promise<Result>,
): Promise<{ result: Result; load: LoadReport }> {
  if (isPolicyTest(name)) return { result: await change(), load: stored }
  const before = await tryStatistics(debugUrl)
  const result = await change()
  if (before instanceof ConsoleError) return { result, load: toUnknownReport(before) }
  const deadlineMs = performance.now() + timeoutMs
  while (performance.now() < deadlineMs) {
    await wait(pauseMs)
    const now = await tryStatistics(debugUrl)
    if (now instanceof ConsoleError) return { result, load: toUnknownReport(now) }
    if (now.loads > before.loads) return { result, load: loaded }
    if (now.refusals > before.refusals) return { result, load: refused }
  }
  return { result, load: unseen }
}

async function tryStatistics(debugUrl: string): Promise<LimitStatistics | ConsoleError> {
  try {
    return await readStatistics(debugUrl, { signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    if (error instanceof ConsoleError) return error
    throw error
  }
}

function toUnknownReport({ message }: ConsoleError): LoadReport {
  return {
    state: 'unseen',
    message: `Could not confirm that the service loaded the file. ${message}`,
  }
}
