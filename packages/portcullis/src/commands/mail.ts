import { parseArgs } from 'node:util'
import {
  parseOrExplain,
  toArgumentError,
  toVerbFault,
} from '@portcullis/service-kit/cli/argument-faults'
import type { CompletableCommand } from '../completion/command-tree.ts'
import { type OptionTable, toCommandOptions, toHelpLines } from '../completion/option-table.ts'
import { AdminFailure, createAdminClient, urlVariable } from './admin/client.ts'
import { dataMeaning } from './find-data-folder.ts'
import { keyVariable } from './server-arguments.ts'

const defaultTemplate = 'confirmation'

/** The messages that every auth server has. The names of the notifications are in its error message. */
const templates = [
  'invite',
  'confirmation',
  'recovery',
  'magic_link',
  'email_change',
  'reauthentication',
]

const options = {
  template: {
    value: 'NAME',
    meaning: `the template, such as ${templates.join(', ')}, or password_changed_notification; default: ${defaultTemplate}`,
    kind: { choices: templates },
  },
  json: { meaning: 'print JSON' },
  data: { value: 'DIR', meaning: dataMeaning, kind: 'directory' },
  'auth-url': { value: 'URL', meaning: `base URL of the auth server; default: ${urlVariable}` },
} as const satisfies OptionTable

const usage = `Usage: portcullis mail test EMAIL [OPTION…]

Sends a template with example values to an address, and waits for the response
of the mail server. The email counts towards AUTH_RATE_LIMIT_EMAIL_SENT.

Without --auth-url and ${urlVariable}, the server of a running
portcullis up sends it. For another server, set ${keyVariable} to a
service key of that server.

Options:
${toHelpLines(options)}

Exit codes: 0 if the mail server accepted the email, 1 on failure, 2 for invalid
arguments.
`

export const mail: CompletableCommand = {
  summary: 'send a test email',
  usage,
  completion: {
    commands: {
      test: { summary: 'send a test email', options: toCommandOptions(options), operands: 'any' },
    },
  },
  async run(args, io) {
    const parsed = parseMail(args)
    if (typeof parsed === 'string') {
      io.stderr.write(toArgumentError('portcullis mail', parsed))
      return 2
    }
    const { email, values } = parsed
    const { template = defaultTemplate, 'auth-url': authUrl, data, json } = values
    try {
      const client = createAdminClient({ authUrl, data, env: io.env })
      const answer = await client.post('/admin/mail-templates/test', { template, email })
      if (answer === undefined) {
        throw new AdminFailure(
          'This server cannot send test emails. Supabase Auth has no endpoint for it.',
        )
      }
      io.stdout.write(
        json
          ? `${JSON.stringify(answer)}\n`
          : `The mail server accepted the template ${template} for ${email}\n`,
      )
      return 0
    } catch (error) {
      if (!(error instanceof AdminFailure)) throw error
      io.stderr.write(`${error.message}\n`)
      return error.exitCode
    }
  },
}

/** @returns a message if the arguments are invalid. */
function parseMail(args: readonly string[]) {
  const parsed = parseOrExplain(() => parse(args))
  if (typeof parsed === 'string') return parsed
  const { values, positionals } = parsed
  const [verb, email, other] = positionals
  if (verb !== 'test') return toVerbFault(verb, ['test'])
  if (email === undefined) return 'The email address is missing.'
  if (other !== undefined) return `Unexpected argument ${JSON.stringify(other)}.`
  return { email, values }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      template: { type: 'string' },
      json: { type: 'boolean' },
      data: { type: 'string' },
      'auth-url': { type: 'string' },
    },
    allowPositionals: true,
  })
}
