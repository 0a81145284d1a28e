import { readFileSync } from 'node:fs'
import process from 'node:process'
import { createCallName } from './call-name.ts'
import type { Command } from './command.ts'
import { dispatch } from './dispatch.ts'

export interface ProgramSettings {
  /** The usual name of the program. */
  readonly name: string
  readonly summary: string
  /** The package.json that contains the version. */
  readonly manifest: URL
  readonly commands: (version: string) => Readonly<Record<string, () => Promise<Command>>>
  readonly args: readonly string[]
  /** The command of this program that `npm start` runs, if it runs one. */
  readonly startCommand?: string
}

/** Runs the command that the arguments name, then exits the process. */
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

  // A reader that closes the pipe early, such as `head`, is not an error.
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
  // Exit explicitly, since a command may have left resources open.
  process.stdout.write('', () => process.exit(exitCode))
}
