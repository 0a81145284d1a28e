import { parseArgs } from 'node:util'
import { parseOrExplain, toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import type { Command, CommandIo } from '@portcullis/service-kit/cli/command'
import { findVerb, toVerbLines } from '@portcullis/service-kit/cli/verbs'
import { explainFailure } from '../../explain-failure.ts'
import { createCommandLog } from '../command-log.ts'
import { openCommandDatabase } from '../open-database-url.ts'
import { type ConfigPlaces, configHelp, configOptions, readConfig } from '../read-config.ts'
import { type AdminArguments, type AdminOption, type AdminVerb, adminVerbs } from './verbs.ts'

const usage = `Usage: auth admin VERB … [--config FILE] [--config-dir DIR]

Manages users directly in the database. Servers may be running.

Verbs:
${toVerbLines(adminVerbs)}

Options:
${configHelp}
  --confirm             mark the email address as confirmed
  --admin               use the role of AUTH_JWT_ADMIN_GROUP_NAME if ROLE is not
                        given
  --soft                keep the id of the deleted user
  --filter TEXT         list only users whose email address, phone number, name
                        or id matches
  --limit N             number of users to list, up to 1000; default: 50
  --json                print one JSON object per line
  --all                 sign out all users of all audiences
  --aud AUDIENCE        audience of the user or users; default: AUTH_JWT_AUD

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments or an invalid
configuration.
`

const options = {
  ...configOptions,
  confirm: { type: 'boolean' },
  admin: { type: 'boolean' },
  soft: { type: 'boolean' },
  json: { type: 'boolean' },
  aud: { type: 'string' },
  filter: { type: 'string' },
  limit: { type: 'string' },
  all: { type: 'boolean' },
} as const

export function createAdmin(version: string): Command {
  async function run(args: readonly string[], io: CommandIo): Promise<number> {
    const parsed = parseAdmin(args)
    if (typeof parsed === 'string') {
      io.stderr.write(toArgumentError('auth admin', parsed))
      return 2
    }
    const { verb, places, ...input } = parsed
    const read = readConfig(io, places, { isForRunning: true })
    if (read === undefined) return 2
    const { config } = read
    const log = createCommandLog(io, 'error')
    try {
      // Loaded here, so that a command with invalid arguments ends quickly.
      const { createServices } = await import('../../create-services.ts')
      const { openDatabaseClock } = await import('../../db/database-clock.ts')
      const { openServerKeys } = await import('../../tokens/server-keys.ts')
      await using database = await openCommandDatabase(config, log)
      const { db } = database
      using clock = await openDatabaseClock({ db, log })
      using keys = await openServerKeys({ db, secrets: config.secrets, log })
      const services = createServices({
        config,
        version,
        db,
        log,
        keys,
        wakeMessages() {},
        // No admin command refreshes a session.
        deliveries: { mark() {}, async settled() {} },
        now: clock.now,
      })
      const audience = input.texts.get('aud') ?? config.tokens.audience
      await verb.run(services, { ...input, audience, io })
      return 0
    } catch (error) {
      io.stderr.write(`${explainFailure(error)}\n`)
      return 1
    }
  }
  return { summary: 'create, delete, ban and list users; revoke sessions', usage, run }
}

interface ParsedArguments extends AdminArguments {
  readonly verb: AdminVerb
  readonly places: ConfigPlaces
}

/** @returns a message if the arguments are invalid. */
function parseAdmin(args: readonly string[]): ParsedArguments | string {
  const parsed = parseOrExplain(() => parse(args))
  if (typeof parsed === 'string') return parsed
  const { values } = parsed
  const found = findVerb(adminVerbs, parsed.positionals)
  if (typeof found === 'string') return found
  const { name, verb, positionals } = found
  const { config, 'config-dir': folder, ...given } = values
  const flags = new Set<AdminOption>()
  const texts = new Map<AdminOption, string>()
  for (const option of Object.keys(given) as AdminOption[]) {
    const value = given[option]
    if (!verb.options.includes(option)) return `${name} has no option --${option}.`
    if (typeof value === 'string') texts.set(option, value)
    else if (value) flags.add(option)
  }
  const fault = verb.findFault?.({ positionals, flags, texts })
  return fault ?? { verb, places: { config, 'config-dir': folder }, positionals, flags, texts }
}

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options, allowPositionals: true })
}
