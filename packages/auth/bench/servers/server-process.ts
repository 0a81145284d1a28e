import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Target } from '../load/order.ts'

export interface Program {
  readonly file: string
  readonly args: readonly string[]
  /** Where it finds its own files. */
  readonly folder?: string
}

const main = join(import.meta.dirname, '../../src/main.ts')

export const ourProgram: Program = {
  file: process.execPath,
  args: ['--disable-warning=ExperimentalWarning', main],
}

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number
  readonly target: Target
  readonly serverName: string
}

export interface Launch {
  readonly program: Program
  /** Takes what the server prints, and is shown when it does not start. */
  readonly logFile: string
  toEnvironment(port: number): Readonly<Record<string, string>>
}

const patienceMs = 60_000
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a server on a free port and waits until it is healthy. */
export async function startServer(launch: Launch): Promise<ServerProcess> {
  const { program, logFile } = launch
  const target = { host: '127.0.0.1', port: await findFreePort() }
  const log = openSync(logFile, 'w')
  const child = spawn(program.file, program.args, {
    env: launch.toEnvironment(target.port),
    stdio: ['ignore', log, log],
    ...(program.folder !== undefined && { cwd: program.folder }),
  })
  closeSync(log)
  const exit = once(child, 'exit').finally(() => running.delete(child))
  const { pid } = child
  if (pid === undefined) {
    const why = await exit.catch((error) => error.message)
    throw new Error(`${program.file} cannot be started: ${why}`)
  }
  running.add(child)
  const stop = async () => {
    child.kill('SIGKILL')
    await exit
  }
  const endsAtMs = performance.now() + patienceMs
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  while (!hasEnded() && performance.now() < endsAtMs) {
    const serverName = await readHealth(target)
    if (serverName !== undefined) {
      return { pid, target, serverName, [Symbol.asyncDispose]: stop }
    }
    await Promise.race([wait(50), exit])
  }
  const what = hasEnded() ? 'ended before it was ready' : 'was not ready in time'
  await stop()
  const tail = readFileSync(logFile, 'utf8').trim().split('\n').slice(-8).join('\n')
  throw new Error(`${program.file} ${what}. The end of its log:\n${tail}`)
}

/** What the server calls itself; undefined while it does not answer. */
export async function readHealth({ host, port }: Target): Promise<string | undefined> {
  try {
    const response = await fetch(`http://${host}:${port}/health`)
    const body: unknown = await response.json()
    return response.ok ? toServerName(body) : undefined
  } catch {
    return undefined
  }
}

export function toServerName(health: unknown): string {
  const { name, version } = Object(health)
  const words = [name, version].filter((word) => typeof word === 'string' && word !== '')
  return words.join(' ') || 'a server without a name'
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('A port was expected')
  return address.port
}
