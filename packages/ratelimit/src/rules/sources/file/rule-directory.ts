import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import type { RuleFault } from '../../model/fault.ts'
import type { RuleFile } from '../../yaml/parse.ts'

/** An entry beside the rule files that is not read, although envoyproxy/ratelimit would read it. */
export interface SkippedEntry {
  readonly name: string
  readonly reason: string
}

export interface UnreadableFile {
  readonly name: string
  readonly reason: string
  /**
   * The first line that is not text, if the file itself could be read. Such a file is an error, like one that
   * is not YAML: skipping it would remove its limits.
   */
  readonly brokenLine?: number
}

/** The content of a folder of rules. */
export interface RuleDirectory {
  /** Sorted by name, so that messages and the order of wildcards do not depend on the disk. */
  readonly files: readonly RuleFile[]
  /** Entries that are not read. */
  readonly skipped: readonly SkippedEntry[]
  /** Files that cannot be read or are not text. */
  readonly unreadable: readonly UnreadableFile[]
}

export interface RuleDirectoryOptions {
  readonly ignoreDotFiles: boolean
  /** A larger file is an error, and is not read completely. */
  readonly fileLimitBytes?: number
}

const defaultFileLimitBytes = 64 << 20

/**
 * Reads the `*.yaml` files directly inside a folder. Links are followed. The `..data` folders of a
 * Kubernetes ConfigMap and policy tests are not read. Rejects when the folder itself cannot be read; a
 * single unreadable file is reported and skipped.
 */
export async function readRuleDirectory(
  directory: string,
  options: RuleDirectoryOptions,
): Promise<RuleDirectory> {
  const { fileLimitBytes = defaultFileLimitBytes } = options
  const files: RuleFile[] = []
  const skipped: SkippedEntry[] = []
  const unreadable: UnreadableFile[] = []
  const names = await readdir(directory)
  for (const name of names.sort()) {
    const isDotFile = name.startsWith('.')
    if (isDotFile && options.ignoreDotFiles) continue
    const isRuleFile = name.endsWith('.yaml') && !isPolicyTest(name)
    if (isDotFile && !isRuleFile) continue
    const path = join(directory, name)
    try {
      const entry = await stat(path)
      if (entry.isDirectory()) {
        if (!isDotFile && (await holdsYaml(path))) skipped.push({ name, reason: inDirectory })
      } else if (entry.isFile() && isRuleFile) {
        files.push(toRuleFile(name, await readPieces(path, fileLimitBytes)))
      } else if (!entry.isFile() || !isPolicyTest(name)) {
        skipped.push({ name, reason: otherName })
      } else if (!topLevelTests.test(await readText(path, fileLimitBytes))) {
        // envoyproxy/ratelimit would load a rule file of that name, so skipping it needs a warning.
        skipped.push({ name, reason: testName })
      }
    } catch (error) {
      if (isRuleFile) unreadable.push(await toUnreadable(name, path, error))
    }
  }
  return { files, skipped, unreadable }
}

/** The errors of files that could be read but are not text. */
export function toBrokenFaults(
  { unreadable }: RuleDirectory,
  toFile: (name: string) => string,
): RuleFault[] {
  return unreadable.flatMap(({ name, reason, brokenLine: line }) => {
    if (line === undefined) return []
    const message = `error loading config file: ${reason}`
    return [{ message, place: { file: toFile(name), line, column: 1 } }]
  })
}

/** Whether a file is for `ratelimit test`. */
export function isPolicyTest(name: string): boolean {
  return name.endsWith('.test.yaml')
}

const topLevelTests = /^[{ "']*tests["']?\s*:/m
const testName =
  "not read: *.test.yaml files are policy tests, but this one has no 'tests'; rename it if it contains rules"
const otherName = 'not read: only regular files named *.yaml are rule files'
const inDirectory = 'not read: rule files must be directly in the folder, not in a folder below it'

async function holdsYaml(directory: string): Promise<boolean> {
  const names = await readdir(directory)
  return names.some((name) => name.endsWith('.yaml') || name.endsWith('.yml'))
}

function toRuleFile(name: string, pieces: readonly string[]): RuleFile {
  const text = joinPieces(pieces)
  return pieces.length > 1 ? { name, text, pieces } : { name, text }
}

export async function readText(
  path: string,
  limitBytes: number = defaultFileLimitBytes,
): Promise<string> {
  return joinPieces(await readPieces(path, limitBytes))
}

/** Concatenates the pieces. V8 copies them only when the text is first read. */
function joinPieces(pieces: readonly string[]): string {
  return pieces.reduce((text, piece) => text + piece, '')
}

/** Reads a file in pieces, so that a large file does not block decisions. A byte order mark is dropped. */
async function readPieces(path: string, limitBytes: number): Promise<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const pieces: string[] = []
  let read = 0
  for await (const bytes of createReadStream(path, { highWaterMark: pieceBytes })) {
    read += bytes.length
    if (read > limitBytes) throw new FileLimitError(limitBytes)
    pieces.push(decoder.decode(bytes, { stream: true }))
  }
  // Throws if the file ends in the middle of a character.
  decoder.decode()
  return pieces
}

const pieceBytes = 256 * 1024

class FileLimitError extends Error {
  constructor(limitBytes: number) {
    super(`the file is larger than ${limitBytes} bytes (RUNTIME_FILE_LIMIT_BYTES)`)
  }
}

async function toUnreadable(name: string, path: string, error: unknown): Promise<UnreadableFile> {
  const reason = toReadError(error)
  if (error instanceof FileLimitError) return { name, reason, brokenLine: 1 }
  if (!isNoText(error)) return { name, reason }
  return { name, reason, brokenLine: await findBrokenLine(path).catch(() => 1) }
}

const lineFeed = 0x0a

/** Finds the first line that is not text, reading in pieces. */
async function findBrokenLine(path: string): Promise<number> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  for await (const bytes of createReadStream(path, { highWaterMark: pieceBytes })) {
    let start = 0
    while (start < bytes.length) {
      const lineEnd = bytes.indexOf(lineFeed, start)
      const end = lineEnd === -1 ? bytes.length : lineEnd + 1
      try {
        decoder.decode(bytes.subarray(start, end), { stream: true })
      } catch {
        return line
      }
      if (lineEnd !== -1) line += 1
      start = end
    }
  }
  return line
}

export function toReadError(error: unknown): string {
  return isNoText(error) ? 'the file is not UTF-8 text' : toReason(error)
}

function isNoText(error: unknown): boolean {
  return toCode(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA'
}
