import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, rmSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { findProgram } from '../find-program.ts'
import { PartStartError } from './errors.ts'
import type { RunningPart, UpContext } from './part.ts'
import type { PartName } from './ports.ts'

interface ServiceSettings {
  readonly part: PartName
  /** The package that provides the program. */
  readonly packageName: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Recognizes the log line that says that the server is ready. */
  readonly isReady: (line: string) => boolean
}

/** Together less than two seconds, the time within which `up` promises to stop. */
const interruptMs = 1_200
const terminateMs = 300

/** Has the same extension as this file: TypeScript in the repository, JavaScript in the published package. */
const endWithParent = new URL(`./end-with-parent${extname(import.meta.filename)}`, import.meta.url)

/** Runs a server in a child process that ends together with this one. */
export async function startService(
  context: UpContext,
  settings: ServiceSettings,
): Promise<RunningPart> {
  const { part, packageName, args, env } = settings
  const program = ['--import', endWithParent.href, findProgram(packageName), ...args]
  const child = spawn(process.execPath, program, {
    // Not the current folder of the user, whose .env file may belong to another project.
    cwd: context.folder,
    env: { ...context.env, ...env },
    // A separate process group: the terminal must not send Ctrl-C to the child directly.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit').then(([code, signal]) => toEnd(code, signal))
  // Also if it is already stopping.
  const endWithUs = () => child.kill('SIGTERM')
  process.once('exit', endWithUs)
  void exited.then(() => process.off('exit', endWithUs))
  const stop = () => stopChild(child, exited)

  const ready = Promise.withResolvers<void>()
  const problems: string[] = []
  let isReady = false
  const logPath = join(context.folder, 'logs', `${part}.log`)
  const log = openLog(logPath)
  const lines = createInterface({ input: child.stderr })
  lines.on('line', (line) => {
    log.write(`${line}\n`)
    if (!isReady && settings.isReady(line)) {
      isReady = true
      // Errors that did not prevent the start, such as a broken rule file, are printed too.
      for (const problem of problems.filter(isError)) context.warn(part, toMessage(problem))
      ready.resolve()
    } else if (!isInformational(line) && !context.stopping.aborted) {
      if (isReady) context.warn(part, toMessage(line))
      else problems.push(line)
    }
  })
  lines.once('close', () => {
    log.end()
    ready.reject(new PartStartError(toFailure(problems)))
  })
  const onStopping = () => ready.reject(context.stopping.reason)
  context.stopping.addEventListener('abort', onStopping, { once: true })
  if (context.stopping.aborted) onStopping()
  try {
    await ready.promise
  } catch (error) {
    await stop()
    throw error
  }
  context.stopping.removeEventListener('abort', onStopping)
  return { stop, lost: exited.then((end) => `${end}; see ${logPath}`) }
}

/** Sends stronger signals over time. */
async function stopChild(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  const isRunning = () => child.exitCode === null && child.signalCode === null
  if (isRunning()) child.kill('SIGINT')
  // The servers stop at once on a second signal.
  const terminate = setTimeout(() => child.kill('SIGTERM'), interruptMs)
  const kill = setTimeout(() => child.kill('SIGKILL'), interruptMs + terminateMs)
  await exited
  clearTimeout(terminate)
  clearTimeout(kill)
}

/** Keeps the complete log of this start; the terminal shows only a part of it. */
function openLog(path: string) {
  mkdirSync(dirname(path), { recursive: true })
  // Always a new file, because the existing one may be a link.
  rmSync(path, { force: true })
  return createWriteStream(path, { mode: 0o600, flags: 'wx' }).on('error', () => {})
}

function toEnd(code: number | null, signal: string | null): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`
}

/** Returns the fatal message, or all messages if none is fatal. */
function toFailure(lines: readonly string[]): string {
  const fatal = lines.findLast((line) => /"level":"fatal"|level=fatal/.test(line))
  return (fatal === undefined ? lines : [fatal]).map(toMessage).join('\n')
}

/** Whether a log line is only informational. */
function isInformational(line: string): boolean {
  return /^warning: |"level":"(?:info|debug|trace)"|level=(?:info|debug|warning)/.test(line)
}

/** Whether a log line reports an error. */
function isError(line: string): boolean {
  return /"level":"(?:error|fatal)"|level=(?:error|fatal)/.test(line)
}

/**
 * Extracts the message of a log line for the terminal; returns the whole line if it is not in a known log format. A
 * message may contain text from a client, which must neither control the terminal nor begin a line.
 */
export function toMessage(line: string): string {
  return toParsedMessage(line)
    .replaceAll(/\s*[\r\n]\s*/g, ' ')
    .replaceAll(/\p{Cc}/gu, '\ufffd')
}

function toParsedMessage(line: string): string {
  const text = /\bmsg="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
  if (text !== undefined) return text.replaceAll(/\\(.)/g, '$1')
  if (!line.startsWith('{')) return line
  try {
    const fields: Readonly<Record<string, unknown>> = JSON.parse(line)
    const { '@message': message, msg = message } = fields
    return describeRequest(fields) ?? (typeof msg === 'string' ? msg : line)
  } catch {
    return line
  }
}

/** Describes the outcome of a request; undefined for other log lines. */
function describeRequest(fields: Readonly<Record<string, unknown>>): string | undefined {
  const { method, path, status, error_code: code, error } = fields
  if (typeof method !== 'string' || typeof path !== 'string' || typeof status !== 'number') {
    return undefined
  }
  const outcome = status >= 500 ? 'failed' : 'was refused'
  const reasons = [code, error].filter((reason) => typeof reason === 'string' && reason !== '')
  return `${method} ${path} ${outcome}: ${[status, ...reasons].join(', ')}`
}
