import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** Runs a command in a folder; rejects with its error output if it fails. */
export async function runInstaller(
  folder: string,
  command: string,
  args: readonly string[],
): Promise<void> {
  const child = spawn(command, args, {
    cwd: folder,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stderr.trim()}`)
}
