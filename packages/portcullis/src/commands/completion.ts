import { parseArgs } from 'node:util'
import { parseOrExplain, toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { toQuestion } from '@portcullis/service-kit/text/similar-names'
import {
  type CommandNode,
  type CompletableCommand,
  type LoadCommands,
  loadTree,
} from '../completion/command-tree.ts'
import { shells } from '../completion/shells/index.ts'
import { otherPrograms } from './hand-over.ts'

type LoadPrograms = Readonly<Record<string, () => Promise<CommandNode>>>

/** The programs of other packages that can also be run on their own, by the name of their executable. */
const ownPrograms: LoadPrograms = Object.fromEntries(
  Object.values(otherPrograms).map((program) => [
    program.packageName.replace('@portcullis/', ''),
    program.loadTree,
  ]),
)

const usage = `Usage: portcullis completion bash|zsh|fish [--for PROGRAM]

Prints a script that completes commands, options, files and choices. Run the
line for your shell once:

  bash   echo 'source <(portcullis completion bash)' >> ~/.bashrc
  zsh    echo 'source <(portcullis completion zsh)' >> ~/.zshrc
  fish   portcullis completion fish > ~/.config/fish/completions/portcullis.fish

In ~/.zshrc, the line must be after the one with compinit.

Options:
  --for PROGRAM  complete this program instead of portcullis:
                 ${Object.keys(ownPrograms).join(', ')}

Exit codes: 0 on success, 2 for invalid arguments.
`

/** @param commands The commands of portcullis, which the script completes. */
export function createCompletion(commands: LoadCommands): CompletableCommand {
  const programs = createPrograms(commands)
  return {
    summary: 'print a completion script for a shell',
    usage,
    keepsName: true,
    completion: {
      options: [
        {
          flags: ['--for'],
          summary: 'complete this program instead of portcullis',
          value: { choices: Object.keys(ownPrograms) },
        },
      ],
      operands: { choices: Object.keys(shells) },
    },
    async run(args, io) {
      const parsed = parseCompletion(args, programs)
      if (typeof parsed === 'string') {
        io.stderr.write(toArgumentError('portcullis completion', parsed))
        return 2
      }
      io.stdout.write(await parsed.loadScript())
      return 0
    },
  }
}

/** Returns every program for which a completion script can be printed. */
export function createPrograms(commands: LoadCommands): LoadPrograms {
  const summary = 'auth, rate limits, GraphQL, and a console for them'
  return { portcullis: () => loadTree(summary, commands), ...ownPrograms }
}

/** @returns an error message when the arguments are invalid. */
function parseCompletion(
  args: readonly string[],
  programs: LoadPrograms,
): { readonly loadScript: () => Promise<string> } | string {
  const parsed = parseOrExplain(() => parse(args))
  if (typeof parsed === 'string') return parsed
  const { positionals, values } = parsed
  const [shell, other] = positionals
  const known = Object.keys(shells).join(', ')
  if (shell === undefined) return `The shell is missing. Shells: ${known}.`
  if (other !== undefined) {
    return `Unexpected argument ${JSON.stringify(other)}: completion takes one shell.`
  }
  const toScript = Object.hasOwn(shells, shell) ? shells[shell] : undefined
  if (toScript === undefined) {
    const suggestion = toQuestion(shell, Object.keys(shells))
    return `Unknown shell ${JSON.stringify(shell)}. Shells: ${known}.${suggestion}`
  }
  const program = values.for
  const load = Object.hasOwn(programs, program) ? programs[program] : undefined
  if (load === undefined) {
    const names = Object.keys(programs)
    return `Unknown program ${JSON.stringify(program)}. Programs: ${names.join(', ')}.${toQuestion(program, names)}`
  }
  return { loadScript: async () => toScript(program, await load()) }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: { for: { type: 'string', default: 'portcullis' } },
    allowPositionals: true,
  })
}
