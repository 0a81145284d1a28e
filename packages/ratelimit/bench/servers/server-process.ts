import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { findFreePorts } from '@portcullis/bench-kit/free-ports'
import {
  type Program,
  startServerProcess,
  type Target,
  toNodeProgram,
} from '@portcullis/bench-kit/server-process'
import { type Listeners, type ServerSettings, toEnvironment } from './environment.ts'

export type { Program } from '@portcullis/bench-kit/server-process'

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number
  readonly target: Target
  readonly listeners: Listeners
  /** The child process, for messages to a module that was imported into the server. */
  readonly child: ChildProcess
}

const main = join(import.meta.dirname, '../../src/main.ts')

/** @param nodeArgs - arguments for Node, such as a module to import first */
export const ourProgram = (...nodeArgs: readonly string[]): Program =>
  toNodeProgram(...nodeArgs, main, 'serve')

export const peerProgram = (file: string): Program => ({ file, args: [] })

export interface Launch extends Omit<ServerSettings, 'listeners'> {
  readonly program: Program
  readonly logFile: string
  /** Additional environment variables for both programs. */
  readonly env?: Readonly<Record<string, string>>
  /** Resolves to true when the server is ready. */
  readonly isReady: (target: Target) => Promise<boolean>
}

/** Starts a server on free ports and waits until it answers. */
export async function startServer(launch: Launch): Promise<ServerProcess> {
  const { program, logFile, isReady } = launch
  const [grpc = 0, http = 0, debug = 0, prometheus = 0] = await findFreePorts(4)
  const listeners = { grpc, http, debug, prometheus }
  const target = { host: '127.0.0.1', port: grpc }
  const { readiness: _, ...server } = await startServerProcess({
    program,
    logFile,
    env: { ...toEnvironment({ ...launch, listeners }), ...launch.env },
    hasChannel: true,
    readReadiness: async () => ((await isReady(target)) ? true : undefined),
  })
  return { ...server, target, listeners }
}
