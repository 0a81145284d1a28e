import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/**
 * Runs a program of this machine and returns its output; rejects with the end of its error output.
 */
export async function run(program: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { maxBuffer: 2 ** 28 })
    return stdout
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string }
    const end = `${stdout}${stderr}`.trim().split('\n').slice(-10).join('\n')
    throw new Error(`${program} ${args.join(' ')} failed:\n${end}`, { cause: error })
  }
}
