import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { OptionTable } from '../completion/option-table.ts'
import type { ConsoleSettings } from '../console/settings.ts'
import { isHostName } from '../up/addresses.ts'

export type ConsoleArguments = Omit<ConsoleSettings, 'token' | 'version'>

export const keyVariable = 'PORTCULLIS_AUTH_KEY'

/** Every option of `console`: its help text, its completion and its parser are made from this table. */
export const consoleOptions = {
  'auth-url': { value: 'URL', meaning: 'of the auth server' },
  'auth-key': {
    value: 'KEY',
    meaning: `a service key of it; better in ${keyVariable}, for what is\non a command line is seen by every user of the machine`,
  },
  'ratelimit-debug-url': {
    value: 'URL',
    meaning: 'of the debug pages of the rate limit service (/stats, /rlconfig)',
  },
  'ratelimit-url': { value: 'URL', meaning: 'of its JSON (/json): to ask for decisions' },
  rules: { value: 'DIR', meaning: 'of its rule files: to edit them', kind: 'directory' },
  'graphql-url': { value: 'URL', meaning: 'of a GraphQL API' },
  port: { value: 'N', meaning: '3000 by default; 0 takes a free one' },
  host: { value: 'ADDRESS', meaning: 'to listen on; 127.0.0.1 by default' },
  'allowed-host': {
    value: 'NAME',
    meaning: `a name that browsers may call the console by, besides localhost and\nnumbers; may be given several times`,
  },
} as const satisfies OptionTable

type OptionName = keyof typeof consoleOptions

const urlNames = ['auth-url', 'ratelimit-debug-url', 'ratelimit-url', 'graphql-url'] as const

/** @returns what to look at, or all that is wrong with the arguments. */
export function parseConsoleArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ConsoleArguments | { readonly faults: readonly string[] } {
  const faults: string[] = []
  const { values, given } = readOptions(args, faults)
  const urls = new Map(
    urlNames.flatMap((name) => {
      const text = values.get(name)?.at(-1)
      return text === undefined ? [] : [[name, parseUrl(name, text, faults)] as const]
    }),
  )
  // Files and copied text often bring a line break along.
  const key = (values.get('auth-key')?.at(-1) ?? env[keyVariable])?.trim()
  const rulesDirectory = values.get('rules')?.at(-1)
  const port = parsePort(values.get('port')?.at(-1) ?? '3000', faults)
  const allowedHosts = values.get('allowed-host') ?? []
  for (const host of allowedHosts) checkHost(host, faults)
  if (rulesDirectory !== undefined) checkDirectory(rulesDirectory, faults)
  if (given.has('auth-url')) checkKey(key, faults)
  if (given.has('auth-key') && !given.has('auth-url')) faults.push('--auth-key needs --auth-url')
  for (const name of ['ratelimit-url', 'rules'] as const) {
    if (given.has(name) && !given.has('ratelimit-debug-url')) {
      faults.push(`--${name} needs --ratelimit-debug-url`)
    }
  }
  if (!urlNames.some((name) => given.has(name))) {
    faults.push(
      'There is nothing to look at: give --auth-url, --ratelimit-debug-url or --graphql-url',
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
      ratelimit: { debugUrl, url: urls.get('ratelimit-url'), rulesDirectory },
    }),
    ...(graphqlUrl !== undefined && { graphql: { url: graphqlUrl } }),
  }
}

interface Read {
  readonly values: ReadonlyMap<OptionName, readonly string[]>
  /** Also those whose value is missing. */
  readonly given: ReadonlySet<OptionName>
}

/** Not as strict as it could be: that would stop at the first fault. */
function readOptions(args: readonly string[], faults: string[]): Read {
  const options = Object.fromEntries(
    Object.keys(consoleOptions).map((name) => [name, { type: 'string' as const }]),
  )
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const values = new Map<OptionName, string[]>()
  const given = new Set<OptionName>()
  for (const token of tokens) {
    if (token.kind === 'positional') faults.push(`There is no place for "${token.value}"`)
    if (token.kind !== 'option') continue
    if (!isOption(token.name)) {
      faults.push(`There is no option ${token.rawName}`)
      continue
    }
    given.add(token.name)
    if (!token.value || (token.value.startsWith('--') && !token.inlineValue)) {
      faults.push(`--${token.name} needs a value`)
    } else {
      values.set(token.name, [...(values.get(token.name) ?? []), token.value])
    }
  }
  return { values, given }
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(consoleOptions, name)
}

function parseUrl(name: string, text: string, faults: string[]): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    faults.push(`--${name} must be an address such as http://localhost:8081, and is "${text}"`)
    return ''
  }
  if (url.username !== '' || url.password !== '') {
    // Not repeated here: it has a password in it.
    faults.push(`--${name} must not have a name or password in it`)
  }
  if (url.search !== '' || url.hash !== '') faults.push(`--${name} must not have a ? or # in it`)
  // A GraphQL API is at this very path, which may end in a slash; below the others there is more.
  return `${url.origin}${name === 'graphql-url' ? url.pathname : url.pathname.replace(/\/+$/, '')}`
}

function checkKey(key: string | undefined, faults: string[]): void {
  if (!key) {
    faults.push(`--auth-url needs a service key of that server, in ${keyVariable} or --auth-key`)
  } else if (!/^[\x21-\x7e]+$/.test(key)) {
    // What `fetch` would say of it has the key in it.
    faults.push(
      'The service key has a space, a line break or another character in it that no key has',
    )
  }
}

function parsePort(text: string, faults: string[]): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) faults.push(`--port must be a number from 0 to 65535, and is "${text}"`)
  return port
}

function checkHost(host: string, faults: string[]): void {
  if (isHostName(host)) return
  faults.push(`--allowed-host must be a name without scheme and port, and is "${host}"`)
}

function checkDirectory(path: string, faults: string[]): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) faults.push(`--rules must be a directory, and "${path}" is none`)
}
