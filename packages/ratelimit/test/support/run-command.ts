import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Command } from '@portcullis/service-kit/cli/command'

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly isTerminal?: boolean
}

/** Runs a command in this process. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  { env = {}, isTerminal = false }: RunOptions = {},
) {
  const out: string[] = []
  const err: string[] = []
  const stdout = { write: (text: string) => out.push(text) }
  const stderr = { write: (text: string) => err.push(text) }
  const code = await command.run(args, { stdout, stderr, env, isTerminal })
  return { code, out: out.join(''), err: err.join('') }
}

/** Creates a folder with these files. It is removed after the test. */
export async function createFolder(
  t: TestContext,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ratelimit-command-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return folder
}
