import { parseArgs } from 'node:util'
import { parseOrExplain, toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { findVerb, toVerbLines } from '@portcullis/service-kit/cli/verbs'
import { wrapText } from '@portcullis/service-kit/text/format'
import type { CommandNode, CompletableCommand } from '../../completion/command-tree.ts'
import { type OptionTable, toCommandOptions, toHelpLines } from '../../completion/option-table.ts'
import { dataMeaning } from '../find-data-folder.ts'
import { keyVariable } from '../server-arguments.ts'
import { AdminFailure, urlVariable } from './client.ts'
import type { AdminInput, AdminVerb } from './verb.ts'

export const dataOption = { value: 'DIR', meaning: dataMeaning, kind: 'directory' } as const
export const urlOption = {
  value: 'URL',
  meaning: `base URL of the auth server; default: ${urlVariable}`,
} as const

const serverHelp = `Without --auth-url and ${urlVariable}, this is the server of a running portcullis up. For another server, set ${keyVariable} to a service key of that server.`

const columns = 80

/** The options of every verb, except for commands in which some verbs do not call the server. */
const serverOptions = {
  data: dataOption,
  'auth-url': urlOption,
  json: { meaning: 'print JSON; lists print one object per line' },
} as const satisfies OptionTable

interface AdminCommand<Option extends string> {
  /** Such as `users`. */
  readonly name: string
  readonly summary: string
  /** What it manages: the first sentence of the help text. The next ones are about the server. */
  readonly about: string
  /** Another paragraph. */
  readonly note?: string
  readonly verbs: Readonly<Record<string, AdminVerb<Option>>>
  /** The options of every verb. */
  readonly common?: OptionTable
  /** The options of single verbs. */
  readonly own: Readonly<Record<Option, OptionTable[string]>>
}

/** Builds a command whose verbs call the admin endpoints of an auth server. */
export function createAdminCommand<Option extends string>(
  command: AdminCommand<Option>,
): CompletableCommand {
  const { name, summary, about, note, verbs, common = serverOptions, own } = command
  const options: OptionTable = { ...own, ...common }
  const title = `portcullis ${name}`
  const paragraphs = [`${about} ${serverHelp}`, ...(note === undefined ? [] : [note])]
  return {
    summary,
    usage: `Usage: ${title} VERB … [OPTION…]

${paragraphs.map(toParagraph).join('\n\n')}

Verbs:
${toVerbLines(verbs)}

Options:
${toHelpLines(options)}

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.
`,
    completion: {
      options: toCommandOptions(common),
      commands: Object.fromEntries(
        Object.entries<AdminVerb<Option>>(verbs).map(([verb, entry]) => [
          verb,
          toNode(entry, options, common),
        ]),
      ),
    },
    async run(args, io) {
      const parsed = parseCall({ verbs, options, common }, args)
      if (typeof parsed === 'string') {
        io.stderr.write(toArgumentError(title, parsed))
        return 2
      }
      try {
        await parsed.verb.run({ ...parsed, io })
        return 0
      } catch (error) {
        if (!(error instanceof AdminFailure)) throw error
        io.stderr.write(`${error.message}\n`)
        return error.exitCode
      }
    },
  }
}

/** The no-break space keeps the name of the command on one line, so that it can be replaced as a whole. */
function toParagraph(text: string): string {
  const lines = wrapText(text.replaceAll('portcullis up', 'portcullis\u00a0up'), columns)
  return lines.join('\n').replaceAll('\u00a0', ' ')
}

function toNode(
  { summary, operands, options: own }: AdminVerb<string>,
  options: OptionTable,
  common: OptionTable,
): CommandNode {
  const table = Object.fromEntries(
    Object.entries(options).filter(([name]) => name in common || own.includes(name)),
  )
  return {
    summary: summary.replaceAll('\n', ' '),
    options: toCommandOptions(table),
    ...(operands !== undefined && { operands }),
  }
}

interface ParsedCall<Option extends string> extends Omit<AdminInput<Option>, 'io'> {
  readonly verb: AdminVerb<Option>
}

interface Syntax<Option extends string> {
  readonly verbs: Readonly<Record<string, AdminVerb<Option>>>
  readonly options: OptionTable
  readonly common: OptionTable
}

/** @returns a message if the arguments are invalid. */
function parseCall<Option extends string>(
  { verbs, options, common }: Syntax<Option>,
  args: readonly string[],
): ParsedCall<Option> | string {
  const parsed = parseOrExplain(() => parse(args, options))
  if (typeof parsed === 'string') return parsed
  const values = parsed.values as AdminInput<Option>['values']
  const found = findVerb(verbs, parsed.positionals)
  if (typeof found === 'string') return found
  const { name, verb, positionals } = found
  for (const option of Object.keys(values)) {
    if (option in common || (verb.options as readonly string[]).includes(option)) continue
    return `${name} has no option --${option}.`
  }
  return verb.findFault?.({ positionals, values }) ?? { verb, positionals, values }
}

function parse(args: readonly string[], table: OptionTable) {
  const options = Object.fromEntries(
    Object.entries(table).map(([name, { value, isRepeated = false }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: isRepeated,
      },
    ]),
  )
  return parseArgs({ args: [...args], options, allowPositionals: true })
}
