import { parseArgs } from 'node:util'
import type { Command } from '@portcullis/service-kit/command'
import { toQuestion } from '@portcullis/service-kit/similar-names'
import { programs } from '../completion/programs/portcullis.ts'
import { shells } from '../completion/shells/index.ts'

const usage = `Usage: portcullis completion bash|zsh|fish [--for PROGRAM]

Prints a script that lets a shell complete commands, options, files and choices. Once, for your shell:

  bash   echo 'source <(portcullis completion bash)' >> ~/.bashrc
  zsh    echo 'source <(portcullis completion zsh)' >> ~/.zshrc      # below the line with compinit
  fish   portcullis completion fish > ~/.config/fish/completions/portcullis.fish

Options:
  --for PROGRAM  complete this program instead of portcullis: ${others().join(', ')}
`

function others(): string[] {
  return Object.keys(programs).filter((name) => name !== 'portcullis')
}

export const completion: Command = {
  summary: 'print the completion of commands for a shell',
  usage,
  keepsName: true,
  async run(args, io) {
    const asked = parseCompletion(args)
    if (typeof asked === 'string') {
      io.stderr.write(`${asked}\n\n${usage}`)
      return 2
    }
    io.stdout.write(asked.script)
    return 0
  },
}

/** @returns a text where it makes no sense. */
function parseCompletion(args: readonly string[]): { readonly script: string } | string {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(args)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const { positionals, values } = parsed
  const [shell] = positionals
  const known = Object.keys(shells).join(', ')
  if (shell === undefined || positionals.length > 1) return `Name one shell: ${known}.`
  const toScript = Object.hasOwn(shells, shell) ? shells[shell] : undefined
  if (toScript === undefined) {
    const question = toQuestion(shell, Object.keys(shells))
    return `There is no completion for ${JSON.stringify(shell)}; there is one for: ${known}.${question}`
  }
  const program = values.for
  const tree = Object.hasOwn(programs, program) ? programs[program] : undefined
  if (tree === undefined) {
    const names = Object.keys(programs)
    return `There is no program ${JSON.stringify(program)}; there are: ${names.join(', ')}.${toQuestion(program, names)}`
  }
  return { script: toScript(program, tree) }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: { for: { type: 'string', default: 'portcullis' } },
    allowPositionals: true,
  })
}
