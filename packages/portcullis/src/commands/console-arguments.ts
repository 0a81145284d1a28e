import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import type { OptionTable } from '../completion/option-table.ts'
import type { ConsoleSettings } from '../console/settings.ts'
import { isHostName } from '../up/addresses.ts'
import {
  debugTokenVariable,
  keyVariable,
  parseBaseUrl,
  parseServerUrl,
  readDebugToken,
  readServiceKey,
} from './server-arguments.ts'

export type ConsoleArguments = Omit<ConsoleSettings, 'token' | 'version'>

/** Every option of `console`. Its help text, its completion and its parser are derived from this table. */
export const consoleOptions = {
  'auth-url': { value: 'URL', meaning: 'base URL of the auth server' },
  'auth-key': {
    value: 'KEY',
    meaning: `service key of the auth server; prefer ${keyVariable}, since other users of this machine can read command lines`,
  },
  'ratelimit-debug-url': {
    value: 'URL',
    meaning: 'base URL of the debug port of the rate limit service (/stats, /rlconfig)',
  },
  'ratelimit-debug-token': {
    value: 'TOKEN',
    meaning: `DEBUG_TOKEN of the rate limit service, needed to show its keys and settings if it runs on another machine; prefer ${debugTokenVariable}`,
  },
  'ratelimit-url': {
    value: 'URL',
    meaning: 'base URL of its HTTP port (/json), to request decisions',
  },
  rules: { value: 'DIR', meaning: 'folder of its rule files, to edit them', kind: 'directory' },
  'graphql-url': { value: 'URL', meaning: 'URL of a GraphQL API' },
  port: { value: 'PORT', meaning: 'port to listen on; 0 picks a free port; default: 3000' },
  host: {
    value: 'ADDRESS',
    meaning: 'address to listen on; default: 127.0.0.1 (this machine only)',
  },
  'allowed-host': {
    value: 'NAME',
    meaning: `host name under which browsers may open the console, besides localhost and IP addresses; repeatable`,
  },
} as const satisfies OptionTable

type OptionName = keyof typeof consoleOptions

const urlNames = ['auth-url', 'ratelimit-debug-url', 'ratelimit-url', 'graphql-url'] as const

/** @returns the settings, or every error in the arguments. */
export function parseConsoleArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ConsoleArguments | { readonly faults: readonly string[] } {
  const faults: string[] = []
  const { values, given } = readOptions(args, faults)
  const urls = new Map(
    urlNames.flatMap((name) => {
      const text = values.get(name)?.at(-1)
      if (text === undefined) return []
      // A GraphQL URL is used as it is, including a trailing slash.
      const parse = name === 'graphql-url' ? parseServerUrl : parseBaseUrl
      return [[name, parse(`--${name}`, text, faults) ?? ''] as const]
    }),
  )
  const key = given.has('auth-url')
    ? readServiceKey(values.get('auth-key')?.at(-1), env, faults)
    : undefined
  const debugToken = readDebugToken(values.get('ratelimit-debug-token')?.at(-1), env, faults)
  const rulesDirectory = values.get('rules')?.at(-1)
  const port = parsePort(values.get('port')?.at(-1) ?? '3000', faults)
  const allowedHosts = values.get('allowed-host') ?? []
  for (const host of allowedHosts) checkHost(host, faults)
  if (rulesDirectory !== undefined) checkDirectory(rulesDirectory, faults)
  if (given.has('auth-key') && !given.has('auth-url')) faults.push('--auth-key needs --auth-url.')
  for (const name of ['ratelimit-debug-token', 'ratelimit-url', 'rules'] as const) {
    if (given.has(name) && !given.has('ratelimit-debug-url')) {
      faults.push(`--${name} needs --ratelimit-debug-url.`)
    }
  }
  if (!urlNames.some((name) => given.has(name))) {
    faults.push(
      'No server is given. Pass at least one of --auth-url, --ratelimit-debug-url and --graphql-url.',
    )
  }
  if (faults.length > 0) return { faults }

  const authUrl = urls.get('auth-url')
  const debugUrl = urls.get('ratelimit-debug-url')
  const graphqlUrl = urls.get('graphql-url')
  return {
    host: values.get('host')?.at(-1) ?? '127.0.0.1',
    port,
    allowedHosts,
    ...(authUrl !== undefined &&
      key !== undefined && { auth: { url: authUrl, key: async () => key } }),
    ...(debugUrl !== undefined && {
      ratelimit: {
        debugUrl,
        ...(debugToken !== undefined && { debugToken }),
        url: urls.get('ratelimit-url'),
        rulesDirectory,
      },
    }),
    ...(graphqlUrl !== undefined && { graphql: { url: graphqlUrl } }),
  }
}

interface Read {
  readonly values: ReadonlyMap<OptionName, readonly string[]>
  /** Includes options whose value is missing. */
  readonly given: ReadonlySet<OptionName>
}

/** Parses without `strict`, which would stop at the first error. */
function readOptions(args: readonly string[], faults: string[]): Read {
  const options = Object.fromEntries(
    Object.keys(consoleOptions).map((name) => [name, { type: 'string' as const }]),
  )
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const values = new Map<OptionName, string[]>()
  const given = new Set<OptionName>()
  for (const token of tokens) {
    if (token.kind === 'positional')
      faults.push(`Unexpected argument ${JSON.stringify(token.value)}: console takes only options.`)
    if (token.kind !== 'option') continue
    if (!isOption(token.name)) {
      faults.push(`Unknown option ${token.rawName}.`)
      continue
    }
    given.add(token.name)
    if (!token.value || (token.value.startsWith('--') && !token.inlineValue)) {
      faults.push(`--${token.name} needs a value.`)
    } else {
      values.set(token.name, [...(values.get(token.name) ?? []), token.value])
    }
  }
  return { values, given }
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(consoleOptions, name)
}

function parsePort(text: string, faults: string[]): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) faults.push(toValueFault('--port', 'a number from 0 to 65535', text))
  return port
}

function checkHost(host: string, faults: string[]): void {
  if (isHostName(host)) return
  faults.push(toValueFault('--allowed-host', 'a host name without scheme and port', host))
}

function checkDirectory(path: string, faults: string[]): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) faults.push(toValueFault('--rules', 'an existing folder', path))
}
