import process from 'node:process'
import { dispatch } from '@portcullis/service-kit/cli/dispatch'
import { commands } from '../../src/commands/index.ts'
import type { Ended, RunOptions } from './auth-program.ts'

const home = process.cwd()

/**
 * Runs a command in this process, because starting a process takes longer than most commands.
 * Standard input is empty. Commands with a `cwd` must not run concurrently, because a process has
 * only one working directory.
 */
export async function runCommand(
  args: readonly string[],
  { env = {}, cwd = '/' }: Omit<RunOptions, 'stdin'> = {},
): Promise<Ended> {
  const output = { stdout: '', stderr: '' }
  const toWriter = (name: keyof typeof output) => ({
    write(text: string) {
      output[name] += text
    },
  })
  const [version, summary] = ['0.0.0-test', 'Signs people in.']
  const program = { name: 'auth', version, summary, commands: commands(version) }
  process.chdir(cwd)
  try {
    const code = await dispatch(program, args, {
      stdout: toWriter('stdout'),
      stderr: toWriter('stderr'),
      env,
      isTerminal: false,
    })
    return { code, ...output }
  } finally {
    process.chdir(home)
  }
}
