import process from 'node:process'
import { dispatch } from '@portcullis/service-kit/dispatch'
import { commands } from '../../src/commands/index.ts'
import type { Ended, RunOptions } from './auth-program.ts'

const home = process.cwd()

/**
 * Runs a command as the program does, but in this process: to start one costs more than most commands.
 * Nothing to read on standard input, and one at a time where a folder is named: a process has only one.
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
