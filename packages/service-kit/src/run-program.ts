import { readFileSync } from 'node:fs'
import process from 'node:process'
import { createCallName } from './call-name.ts'
import type { Command } from './command.ts'
import { dispatch } from './dispatch.ts'

export interface ProgramSettings {
  /** How people call it. */
  readonly name: string
  readonly summary: string
  /** The package.json with its version. */
  readonly manifest: URL
  readonly commands: (version: string) => Readonly<Record<string, () => Promise<Command>>>
  readonly args: readonly string[]
  /** The command that `npm start` runs, where it runs one of this program. */
  readonly startCommand?: string
}

/** Runs the command that the arguments name, as this process, which ends with it. */
export async function runProgram(settings: ProgramSettings): Promise<void> {
  const { name, summary, manifest, commands, args, startCommand } = settings
  const { name: packageName, version }: { name: string; version: string } = JSON.parse(
    readFileSync(manifest, 'utf8'),
  )
  const toCall = createCallName({
    name,
    packageName,
    env: process.env,
    executable: process.argv[0] ?? '',
    script: process.argv[1] ?? '',
    ...(startCommand !== undefined && { startCommand }),
  })

  // A reader that has seen enough, such as `head`, is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })

  const program = { name, version, summary, commands: commands(version), toCall }
  const exitCode = await dispatch(program, args, {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    isTerminal: process.stdout.isTTY === true,
  })
  // What a command left open must not keep the process from ending.
  process.stdout.write('', () => process.exit(exitCode))
}
