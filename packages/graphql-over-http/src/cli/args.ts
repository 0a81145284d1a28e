import { parseArgs } from 'node:util'
import type { ProfileName } from '../profiles.ts'
import { findSimilarOption } from '../similar-option.ts'
import { CommandError } from './command-error.ts'

export const HELP = `Usage: graphql-over-http audit URL [OPTION…]

Checks a running server for compliance with the GraphQL-over-HTTP specification.

Options:
  --header K:V       send this header with every request; repeatable
  --profile NAME     status codes to expect: classic or 2026; default: classic
  --extended         add stricter variants of audits that test too little
  --json             print only the results on standard output, as JSON
  --html FILE        write a report page to FILE
  --fail-on LEVEL    least severe result that is a failure: error or warn;
                     default: error
  --timeout SECONDS  how long to wait for each response; default: 30
  --help             show this text
  --version          show the version

Exit codes: 0 if no audit fails, 1 if an audit fails, 2 for invalid arguments or
a server that cannot be audited.

Example:
  graphql-over-http audit http://localhost:4000/graphql \\
    --header 'Authorization: Bearer TOKEN'
`

export interface AuditArguments {
  readonly command: 'audit'
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly profile: ProfileName
  readonly extended: boolean
  readonly json: boolean
  readonly html?: string
  readonly failOn: 'error' | 'warn'
  readonly timeoutMs: number
}

export type Arguments = AuditArguments | { readonly command: 'help' | 'version' }

const options = {
  header: { type: 'string', multiple: true },
  profile: { type: 'string', default: 'classic' },
  extended: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  html: { type: 'string' },
  'fail-on': { type: 'string', default: 'error' },
  timeout: { type: 'string', default: '30' },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', default: false },
} as const

export function parseArguments(argv: readonly string[]): Arguments {
  const { values, positionals } = readArguments(argv)
  if (values.help) return { command: 'help' }
  if (values.version) return { command: 'version' }
  const [command, url, ...rest] = positionals
  if (command === undefined) throw usage('The command is missing. Commands: audit.')
  if (command !== 'audit') {
    throw usage(`Unknown command ${JSON.stringify(command)}. Commands: audit.`)
  }
  if (url === undefined) throw usage('The URL of the server is missing.')
  if (rest.length > 0) {
    throw usage(`Unexpected argument ${JSON.stringify(rest[0])}: audit takes one URL.`)
  }
  return {
    command,
    url: parseUrl(url),
    headers: parseHeaders(values.header ?? []),
    profile: parseChoice('--profile', values.profile, ['classic', '2026']),
    extended: values.extended,
    json: values.json,
    ...(values.html !== undefined && { html: values.html }),
    failOn: parseChoice('--fail-on', values['fail-on'], ['error', 'warn']),
    timeoutMs: parseSeconds(values.timeout),
  }
}

function usage(message: string): CommandError {
  return new CommandError(`${message}\nSee: graphql-over-http audit --help`)
}

function readArguments(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    throw toUsageError(error)
  }
}

function toUsageError(error: unknown): unknown {
  if (!(error instanceof TypeError && 'code' in error)) return error
  const flag = /'[^']*?(--?[\w-]+)/.exec(error.message)?.[1] ?? 'of that name'
  switch (error.code) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION':
      return usage(`Unknown option ${flag}.${toHint(flag)}`)
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      return usage(
        error.message.includes('does not take an argument')
          ? `${flag} takes no value.`
          : `${flag} needs a value.`,
      )
    default:
      return error
  }
}

function toHint(flag: string): string {
  const meant = findSimilarOption(flag, Object.keys(options))
  return meant === undefined ? '' : ` Did you mean --${meant}?`
}

function parseUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw usage(`${text} is not a web address: start it with http:// or https://.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw usage("Leave the credentials out of the URL and pass --header 'Authorization: Basic …'.")
  }
  url.hash = ''
  return url.href
}

function parseHeaders(lines: readonly string[]): { readonly [name: string]: string } {
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) throw usage('--header must be a name, a colon and a value.')
    const name = line.slice(0, colon).trim()
    if (/^(accept|content-type)$/i.test(name)) {
      throw usage(`The header ${name} cannot be set with --header, because the audits set it.`)
    }
    try {
      headers.append(name, line.slice(colon + 1).trim())
    } catch {
      // The value may be a secret, so only the name is printed.
      throw usage(
        `The header ${JSON.stringify(name)} contains characters that HTTP does not allow.`,
      )
    }
  }
  return Object.fromEntries(headers)
}

function parseChoice<const Choice extends string>(
  flag: string,
  value: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((candidate) => candidate === value)
  if (choice === undefined) {
    throw usage(`${flag} must be ${choices.join(' or ')}, not ${JSON.stringify(value)}.`)
  }
  return choice
}

function parseSeconds(text: string): number {
  const seconds = Number(text)
  if (!(seconds > 0 && seconds <= 3600)) {
    throw usage(`--timeout must be a number of seconds up to 3600, not ${JSON.stringify(text)}.`)
  }
  return seconds * 1000
}
