import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, rmSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { findProgram } from '../find-program.ts'
import { PartStartError } from './errors.ts'
import type { RunningPart, World } from './part.ts'
import type { PartName } from './ports.ts'

interface ServiceSettings {
  readonly part: PartName
  /** The package whose command it is. */
  readonly packageName: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Tells the line of its log that says it serves. */
  readonly isReady: (line: string) => boolean
}

/** Together less than the two seconds that people are promised. */
const patienceMs = 1_200
const lastChanceMs = 300

/** A source in the repository, compiled in the published package: as this file is. */
const endWithParent = new URL(`./end-with-parent${extname(import.meta.filename)}`, import.meta.url)

/** Runs a server of ours in a process of its own, which ends when we do. */
export async function startService(world: World, settings: ServiceSettings): Promise<RunningPart> {
  const { part, packageName, args, env } = settings
  const program = ['--import', endWithParent.href, findProgram(packageName), ...args]
  const child = spawn(process.execPath, program, {
    // Not where people are: a file .env of theirs is meant for something else.
    cwd: world.folder,
    env: { ...world.env, ...env },
    // A process group of its own: Ctrl-C is ours to pass on.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit').then(([code, signal]) => toEnd(code, signal))
  // At once, also when it is stopping already.
  const endWithUs = () => child.kill('SIGTERM')
  process.once('exit', endWithUs)
  void exited.then(() => process.off('exit', endWithUs))
  const stop = () => stopChild(child, exited)

  const ready = Promise.withResolvers<void>()
  const complaints: string[] = []
  let isReady = false
  const logPath = join(world.folder, 'logs', `${part}.log`)
  const log = openLog(logPath)
  const lines = createInterface({ input: child.stderr })
  lines.on('line', (line) => {
    log.write(`${line}\n`)
    if (!isReady && settings.isReady(line)) {
      isReady = true
      // An error that did not keep it from starting, such as a broken rule file, is to be known all the same.
      for (const complaint of complaints.filter(isError)) world.complain(part, toWords(complaint))
      ready.resolve()
    } else if (!isNews(line) && !world.stopping.aborted) {
      if (isReady) world.complain(part, toWords(line))
      else complaints.push(line)
    }
  })
  lines.once('close', () => {
    log.end()
    ready.reject(new PartStartError(toLastWords(complaints)))
  })
  const onStopping = () => ready.reject(world.stopping.reason)
  world.stopping.addEventListener('abort', onStopping, { once: true })
  if (world.stopping.aborted) onStopping()
  try {
    await ready.promise
  } catch (error) {
    await stop()
    throw error
  }
  world.stopping.removeEventListener('abort', onStopping)
  return { stop, lost: exited.then((end) => `${end}; its log is ${logPath}`) }
}

/** In an orderly way; with ever less patience. */
async function stopChild(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  const isRunning = () => child.exitCode === null && child.signalCode === null
  if (isRunning()) child.kill('SIGINT')
  // The second signal means: at once.
  const insist = setTimeout(() => child.kill('SIGTERM'), patienceMs)
  const kill = setTimeout(() => child.kill('SIGKILL'), patienceMs + lastChanceMs)
  await exited
  clearTimeout(insist)
  clearTimeout(kill)
}

/** The whole log of this start, for those who want to know more than the terminal shows. */
function openLog(path: string) {
  mkdirSync(dirname(path), { recursive: true })
  // A new file: what has the name may be a link by now.
  rmSync(path, { force: true })
  return createWriteStream(path, { mode: 0o600, flags: 'wx' }).on('error', () => {})
}

function toEnd(code: number | null, signal: string | null): string {
  return signal === null ? `it ended with code ${code}` : `${signal} ended it`
}

/** The gravest of them; all where none is. */
function toLastWords(lines: readonly string[]): string {
  const fatal = lines.findLast((line) => /"level":"fatal"|level=fatal/.test(line))
  return (fatal === undefined ? lines : [fatal]).map(toWords).join('\n')
}

/** Whether a line of a server's log is only about how things go. */
function isNews(line: string): boolean {
  return /^warning: |"level":"(?:info|debug|trace)"|level=(?:info|debug|warning)/.test(line)
}

/** Whether it is about something that did not work. */
function isError(line: string): boolean {
  return /"level":"(?:error|fatal)"|level=(?:error|fatal)/.test(line)
}

/** What a line says, without what is around it; all of it where it is no log. */
export function toWords(line: string): string {
  const text = /\bmsg="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
  if (text !== undefined) return text.replaceAll(/\\(.)/g, '$1')
  if (!line.startsWith('{')) return line
  try {
    const fields: Readonly<Record<string, unknown>> = JSON.parse(line)
    const { '@message': message, msg = message } = fields
    return toRequestWords(fields) ?? (typeof msg === 'string' ? msg : line)
  } catch {
    return line
  }
}

/** What became of a request; undefined for lines about anything else. */
function toRequestWords(fields: Readonly<Record<string, unknown>>): string | undefined {
  const { method, path, status, error_code: code, error } = fields
  if (typeof method !== 'string' || typeof path !== 'string' || typeof status !== 'number') {
    return undefined
  }
  const outcome = status >= 500 ? 'failed' : 'was refused'
  const reasons = [code, error].filter((reason) => typeof reason === 'string' && reason !== '')
  return `${method} ${path} ${outcome}: ${[status, ...reasons].join(', ')}`
}
