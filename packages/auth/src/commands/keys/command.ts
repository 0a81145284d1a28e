import { parseArgs } from 'node:util'
import {
  toArgumentError,
  toArgumentFault,
  toVerbFault,
} from '@portcullis/service-kit/cli/argument-faults'
import type { Command, CommandIo } from '@portcullis/service-kit/cli/command'
import { toVerbLines } from '@portcullis/service-kit/cli/verbs'
import type { Config } from '../../config/config.ts'
import { explainFailure } from '../../explain-failure.ts'
import { type KeyName, keyNames } from '../../tokens/key-ring.ts'
import { createCommandLog } from '../command-log.ts'
import { openCommandDatabase } from '../open-database-url.ts'
import { configHelp, configOptions, readConfig } from '../read-config.ts'
import { type KeyVerb, keyVerbs } from './verbs.ts'

const usage = `Usage: auth keys VERB [NAME …] [--config FILE] [--config-dir DIR]

Shows and replaces the keys that all servers of a database share, and the
encryption of password hashes. Servers may be running; they load new keys within
a minute. Without a NAME, all keys are selected. docs/auth-operations.md
explains each key.

Verbs:
${toVerbLines(keyVerbs)}

Options:
${configHelp}
  --force               with retire: delete older versions even if sessions or
                        codes become invalid

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments or an invalid
configuration.
`

const options = { ...configOptions, force: { type: 'boolean' } } as const

export const keysCommand: Command = {
  summary: 'show and replace the keys of refresh tokens, codes and factors',
  usage,
  async run(args, io) {
    const parsed = parse(args)
    if (typeof parsed === 'string') {
      io.stderr.write(toArgumentError('auth keys', parsed))
      return 2
    }
    const read = readConfig(io, parsed.places, { isForRunning: true })
    if (read === undefined) return 2
    try {
      return await runVerb(parsed, read.config, io)
    } catch (error) {
      io.stderr.write(`${explainFailure(error)}\n`)
      return 1
    }
  },
}

interface ParsedArguments {
  readonly verb: KeyVerb
  readonly names: readonly KeyName[]
  readonly isForced: boolean
  readonly places: Parameters<typeof readConfig>[1]
}

function parse(args: readonly string[]): ParsedArguments | string {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const { force: isForced = false, ...places } = values
    const [name = '', ...names] = positionals
    const verb = Object.hasOwn(keyVerbs, name) ? keyVerbs[name] : undefined
    if (verb === undefined) return toVerbFault(positionals[0], Object.keys(keyVerbs))
    if (isForced && verb.takesForce !== true) return `${name} has no option --force.`
    if (names.length > 0 && !verb.takesNames) {
      return `Unexpected argument ${JSON.stringify(names[0])}: ${name} takes no names.`
    }
    const unknown = names.find((each) => !keyNames.some((known) => known === each))
    if (unknown !== undefined) {
      return `Unknown key ${JSON.stringify(unknown)}. Keys: ${keyNames.join(', ')}.`
    }
    const selected = keyNames.filter((known) => names.length === 0 || names.includes(known))
    return { verb, names: selected, isForced, places }
  } catch (error) {
    return toArgumentFault(error)
  }
}

async function runVerb(
  { verb, names, isForced }: ParsedArguments,
  config: Config,
  io: CommandIo,
): Promise<number> {
  const log = createCommandLog(io, 'error')
  const { openServerKeys } = await import('../../tokens/server-keys.ts')
  await using database = await openCommandDatabase(config, log)
  const { db } = database
  // This creates missing keys and encrypts unencrypted ones.
  using _keys = await openServerKeys({ db, secrets: config.secrets, log })
  await verb.run({ db, secrets: config.secrets, names, isForced, io })
  return 0
}
