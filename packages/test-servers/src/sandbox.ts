import { statSync } from 'node:fs'
import { chown, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Account } from './account.ts'
import { type Guard, openGuard } from './guard.ts'
import { type ServerProcess, startProcess } from './server-process.ts'

/** A temporary folder and the processes that use it; closing it removes both. */
export interface Sandbox extends AsyncDisposable {
  readonly folder: string
  readonly guard: Guard
  start(program: string, args: readonly string[], options: StartOptions): Promise<ServerProcess>
}

export interface StartOptions {
  readonly name: string
  readonly stopSignal?: NodeJS.Signals
}

export async function openSandbox(name: string, account?: Account): Promise<Sandbox> {
  const guard = await openGuard()
  const folder = await mkdtemp(join(temporaryFolderFor(account), `portcullis-${name}-`))
  guard.addFolder(folder)
  if (account) await chown(folder, account.uid, account.gid)
  const processes = new Set<ServerProcess>()
  return {
    folder,
    guard,
    async start(program, args, { name, stopSignal = 'SIGKILL' }) {
      const logFile = join(folder, `${name}.log`)
      const launch = { program, args, folder, logFile, stopSignal, account }
      const started = await startProcess(launch, guard)
      processes.add(started)
      return started
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...processes].map((running) => running.stop()))
      await guard[Symbol.asyncDispose]()
    },
  }
}

/** The system's temporary folder, unless the other user cannot access it. */
function temporaryFolderFor(account: Account | undefined): string {
  const candidates = [tmpdir(), '/tmp', '/var/tmp']
  const found = account ? candidates.find(isOpenToAll) : tmpdir()
  if (found) return found
  throw new Error(`The user "${account?.name}" can enter none of ${candidates.join(', ')}.`)
}

/** Whether every user can access it. */
export function isOpenToAll(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  const mayEnter = (mode & 0o001) !== 0
  return mayEnter && (folder === dirname(folder) || isOpenToAll(dirname(folder)))
}
