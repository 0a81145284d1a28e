import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Returns what a shell offers for each of the lines, in a folder, with a completion script. */
export type QueryShell = (
  shell: string,
  question: { readonly script: string; readonly folder: string; readonly lines: readonly string[] },
) => Promise<string[][]>

const toScriptFile = (folder: string, script: string) => {
  const path = join(folder, '.completion')
  writeFileSync(path, script)
  return path
}

const queryBash: QueryShell = async (shell, { script, folder, lines }) => {
  const program = `source "$1"; shift
for line; do
  read -ra COMP_WORDS <<< "$line"
  [[ $line == *' ' ]] && COMP_WORDS+=('')
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  "$(complete -p "\${COMP_WORDS[0]}" | sed 's/.*-F \\([^ ]*\\) .*/\\1/')"
  printf '%s\\n' "\${COMPREPLY[*]}"
done`
  const path = toScriptFile(folder, script)
  const args = ['--norc', '-c', program, 'bash', path, ...lines]
  const { stdout } = await run(shell, args, { cwd: folder })
  return stdout.trimEnd().split('\n').map(toWords)
}

const queryFish: QueryShell = async (shell, { script, folder, lines }) => {
  const program = 'source $argv[1]; for line in $argv[2..]; complete -C $line; echo ==; end'
  const path = toScriptFile(folder, script)
  const { stdout } = await run(shell, ['--no-config', '-c', program, path, ...lines], {
    cwd: folder,
    env: { ...process.env, HOME: folder },
  })
  const answers = stdout.split('==\n').slice(0, -1)
  return answers.map((answer) => toLines(answer).map((line) => line.replace(/\t.*/, '')))
}

const queryZsh: QueryShell = async (shell, { script, folder, lines }) => {
  const probe = join(import.meta.dirname, 'probe.zsh')
  const path = toScriptFile(folder, script)
  await run(shell, ['-f', probe, path, folder, ...lines], { cwd: folder, timeout: 600_000 })
  return lines.map((_line, index) => toLines(readFileSync(join(folder, `${index + 1}`), 'utf8')))
}

export const queries: Readonly<Record<string, QueryShell>> = {
  bash: queryBash,
  fish: queryFish,
  zsh: queryZsh,
}

function toWords(text: string): string[] {
  return text.split(' ').filter((word) => word !== '')
}

function toLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
