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
      process.stdout.write(withCalledName(HELP))
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

/** Replaces the name of the command by what the user typed. */
function withCalledName(text: string): string {
  return text.replaceAll('graphql-over-http audit', toCalledName(process.env, process.argv))
}

function toCalledName(env: NodeJS.ProcessEnv, [executable = '', script = '']: string[]): string {
  const event = env['npm_lifecycle_event']
  // `npm run audit` includes the command name `audit`.
  if (event === 'audit') return 'npm run audit --'
  // `portcullis graphql` sets argv[0] to the command as typed; otherwise it is the runtime's path.
  const isHandedOver = executable !== '' && !isAbsolute(executable)
  // A package that npx has just downloaded is only available under its package name.
  const npxName = /[\\/]_npx[\\/]/.test(script) ? packageName : 'graphql-over-http'
  const calledAs = event === 'npx' ? `npx ${npxName}` : 'graphql-over-http'
  return `${isHandedOver ? executable : calledAs} audit`
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
    process.stderr.write(`${withCalledName(error.message)}\n`)
    exitCode = 2
  }
  // Exit explicitly, since abandoned requests may still be open.
  process.stdout.write('', () => process.exit(exitCode))
}
