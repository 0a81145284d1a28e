import { parseArgs } from 'node:util'
import { parseOrExplain, toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { findVerb, toVerbLines } from '@portcullis/service-kit/cli/verbs'
import type { CommandNode, CompletableCommand } from '../../completion/command-tree.ts'
import { type OptionTable, toCommandOptions, toHelpLines } from '../../completion/option-table.ts'
import { AdminFailure, urlVariable } from '../admin-client.ts'
import { dataMeaning } from '../find-data-folder.ts'
import { keyVariable } from '../server-arguments.ts'
import type { UsersInput, UsersOption, UsersVerb } from './verb.ts'
import { usersVerbs } from './verbs.ts'

const commonOptions = {
  data: {
    value: 'DIR',
    meaning: dataMeaning,
    kind: 'directory',
  },
  json: { meaning: 'print JSON; find prints one object per line' },
} as const satisfies OptionTable

const ownOptions = {
  'auth-url': { value: 'URL', meaning: `base URL of the auth server; default: ${urlVariable}` },
  limit: { value: 'N', meaning: 'with find: number of users to list, up to 1000; default: 50' },
  csv: { meaning: 'with import: the file is a CSV file whose first line names the fields' },
  'dry-run': { meaning: 'with import: check the file and report the result, but write nothing' },
  soft: { meaning: 'with delete: delete the personal data, but keep the id' },
  yes: {
    meaning:
      'with delete and reset-factors: do not ask for confirmation; needed without a terminal',
  },
} as const satisfies OptionTable

const options: OptionTable = { ...commonOptions, ...ownOptions }

const usage = `Usage: portcullis users VERB … [OPTION…]

Manages the users of an auth server. Without --auth-url and ${urlVariable},
this is the server of a running portcullis up. For another server, set
${keyVariable} to a service key of that server.

export and import connect to the database of the server. They read its
configuration in the same way as auth export and auth import.

Verbs:
${toVerbLines(usersVerbs)}

Options:
${toHelpLines(options)}

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.
`

export const users: CompletableCommand = {
  summary: 'find, show, ban, delete, export and import users',
  usage,
  completion: {
    options: toCommandOptions(commonOptions),
    commands: Object.fromEntries(
      Object.entries(usersVerbs).map(([name, verb]) => [name, toNode(verb)]),
    ),
  },
  async run(args, io) {
    const parsed = parseUsers(args)
    if (typeof parsed === 'string') {
      io.stderr.write(toArgumentError('portcullis users', parsed))
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

function toNode({ summary, operands, options: own }: UsersVerb): CommandNode {
  const table = Object.fromEntries(
    Object.entries(options).filter(
      ([name]) => name in commonOptions || own.includes(name as never),
    ),
  )
  return { summary: summary.replaceAll('\n', ' '), options: toCommandOptions(table), operands }
}

interface ParsedUsers extends Omit<UsersInput, 'io'> {
  readonly verb: UsersVerb
}

/** @returns a message if the arguments are invalid. */
function parseUsers(args: readonly string[]): ParsedUsers | string {
  const parsed = parseOrExplain(() => parse(args))
  if (typeof parsed === 'string') return parsed
  const { values } = parsed
  const found = findVerb(usersVerbs, parsed.positionals)
  if (typeof found === 'string') return found
  const { name, verb, positionals } = found
  for (const option of Object.keys(values) as UsersOption[]) {
    if (option in commonOptions || verb.options.includes(option)) continue
    return `${name} has no option --${option}.`
  }
  return verb.findFault?.({ positionals, values }) ?? { verb, positionals, values }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      data: { type: 'string' },
      json: { type: 'boolean' },
      'auth-url': { type: 'string' },
      limit: { type: 'string' },
      csv: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      soft: { type: 'boolean' },
      yes: { type: 'boolean' },
    },
    allowPositionals: true,
  })
}
