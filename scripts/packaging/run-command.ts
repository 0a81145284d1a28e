import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'

export interface CommandOptions {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
}

/** A failed command. The message contains its output. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

// A command that hangs must not block the build server. The slowest takes 12 s alone, and several
// times that beside the tests.
const timeoutMs = 600_000

// tsc is a short-lived Go program: without garbage collection it needs a fifth less CPU time.
const defaultEnvironment = { GOGC: 'off', GOMEMLIMIT: '3GiB', ...process.env }

/** Runs a command until it exits and resolves to its standard output. */
export function runCommand(
  file: string,
  args: readonly string[],
  { cwd, env = defaultEnvironment }: CommandOptions,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const child = spawn(file, args, { cwd, env, timeout: timeoutMs })
  let stdout = ''
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const command = `${file} ${args.join(' ')}`
  child.on('error', (error) => {
    reject(new CommandError(`Cannot run ${command}: ${error.message}`, { cause: error }))
  })
  child.on('close', (code, signal) => {
    if (code === 0) resolve(stdout)
    else
      reject(new CommandError(`${output.trim()}\n${command} ended with ${signal ?? code}`.trim()))
  })
  return promise
}

/** Runs npm. */
export function runNpm(args: readonly string[], options: CommandOptions): Promise<string> {
  const [file = 'npm', ...first] = npmCommand('npm')
  return runCommand(file, [...first, ...args], options)
}

/** The command line of npm or npx: from the npm that started this script, otherwise from PATH. */
export function npmCommand(name: 'npm' | 'npx'): string[] {
  const cli = process.env['npm_execpath']
  if (!cli?.endsWith('npm-cli.js')) return [name]
  return [process.execPath, join(dirname(cli), `${name}-cli.js`)]
}
