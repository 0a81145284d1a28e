import { join } from 'node:path'
import { findFreePorts } from '@portcullis/bench-kit/free-ports'
import {
  type Program,
  startServerProcess,
  type Target,
  toNodeProgram,
} from '@portcullis/bench-kit/server-process'

export const ourProgram = toNodeProgram(join(import.meta.dirname, '../../src/main.ts'))

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number
  readonly target: Target
  readonly serverName: string
}

export interface Launch {
  readonly program: Program
  readonly logFile: string
  toEnvironment(port: number): Readonly<Record<string, string>>
}

/** Starts a server on a free port and waits until it is healthy. */
export async function startServer(launch: Launch): Promise<ServerProcess> {
  const { program, logFile } = launch
  const [port = 0] = await findFreePorts(1)
  const target = { host: '127.0.0.1', port }
  const { readiness: serverName, ...server } = await startServerProcess({
    program,
    logFile,
    env: launch.toEnvironment(port),
    readReadiness: () => readHealth(target),
  })
  return { ...server, target, serverName }
}

/** Returns the name of the server, or undefined while it does not respond. */
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
