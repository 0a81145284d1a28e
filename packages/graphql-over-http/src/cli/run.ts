import { readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import process from 'node:process'
import { HELP, parseArguments } from './args.ts'
import { runAuditCommand } from './audit-command.ts'
import { CommandError } from './command-error.ts'

const packageName = '@portcullis/graphql-over-http'

async function main(argv: readonly string[]): Promise<number> {
  const args = parseArguments(argv)
  switch (args.command) {
    case 'help':
      process.stdout.write(toCalledHelp(process.env, process.argv))
      return 0
    case 'version':
      process.stdout.write(`${readVersion()}\n`)
      return 0
    case 'audit':
      return runAuditCommand(args, {
        stdout: process.stdout,
        stderr: process.stderr,
        color: process.stdout.isTTY && !process.env['NO_COLOR'] && process.stdout.hasColors(),
        showsProgress: process.stderr.isTTY,
      })
  }
}

/** The help, with the command as the user typed it. */
function toCalledHelp(env: NodeJS.ProcessEnv, [executable = '', script = '']: string[]): string {
  const event = env['npm_lifecycle_event']
  // `npm run audit` includes the command name `audit`.
  if (event === 'audit') return HELP.replaceAll('graphql-over-http audit', 'npm run audit --')
  // `portcullis graphql` sets argv[0] to the command as typed; otherwise it is the runtime's path.
  const isHandedOver = executable !== '' && !isAbsolute(executable)
  // A package that npx has just downloaded is only available under its package name.
  const npxName = /[\\/]_npx[\\/]/.test(script) ? packageName : 'graphql-over-http'
  const calledAs = isHandedOver ? executable : event === 'npx' ? `npx ${npxName}` : ''
  return calledAs === '' ? HELP : HELP.replaceAll('graphql-over-http audit', `${calledAs} audit`)
}

/** Resolved by package name, which works from the sources and from the published files alike. */
function readVersion(): string {
  const manifest = import.meta.resolve(`${packageName}/package.json`)
  return JSON.parse(readFileSync(new URL(manifest), 'utf8')).version
}

// A reader that closes the pipe early, such as `head`, is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

/** Runs the command that the arguments name, then exits the process. */
export async function run(argv: readonly string[]): Promise<void> {
  let exitCode: number
  try {
    exitCode = await main(argv)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    process.stderr.write(`${error.message}\n`)
    exitCode = 2
  }
  // Exit explicitly, since abandoned requests may still be open.
  process.stdout.write('', () => process.exit(exitCode))
}
