import type { Command } from '@portcullis/service-kit/cli/command'
import type { Ended } from './launch-up.ts'

/** The variables that name an auth server, empty. */
export const noServer = { PORTCULLIS_AUTH_URL: '', PORTCULLIS_AUTH_KEY: '' } as const

/** Runs a command in this process, without a terminal. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  let [stdout, stderr] = ['', '']
  const code = await command.run(args, {
    stdout: { write: (written) => (stdout += written) },
    stderr: { write: (written) => (stderr += written) },
    env: { ...noServer, ...env },
    isTerminal: false,
  })
  return { code, stdout, stderr }
}
