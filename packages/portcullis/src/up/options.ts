import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import { toQuestion } from '@portcullis/service-kit/text/similar-names'
import { isHostName } from './addresses.ts'
import {
  listenerNames,
  listeners,
  type PartName,
  type Ports,
  partNames,
  toFlag,
  toListenerNames,
  toPorts,
} from './ports.ts'
import { upOptions } from './usage.ts'

/** Only this machine can connect to it. */
export const defaultHost = '127.0.0.1'

export interface UpOptions {
  readonly folder: string
  /** Whether to delete the data of earlier starts first. */
  readonly isFresh: boolean
  readonly has: ReadonlySet<PartName>
  readonly host: string
  /** Scheme and name by which others reach this machine; the ports are those of the parts. */
  readonly publicUrl?: string
  /** Host names that browsers may use for the console. */
  readonly allowedHosts: readonly string[]
  /** 0 stands for any free port. */
  readonly ports: Ports
  /** The given values by option name, for commands that the user can copy. */
  readonly given: ReadonlyMap<string, string>
}

export type ParsedUpOptions =
  | { readonly options: UpOptions; readonly faults?: undefined }
  | { readonly faults: readonly string[] }

/** Parses the arguments of `up`; reports all errors at once. */
export function parseUpOptions(args: readonly string[]): ParsedUpOptions {
  const faults: string[] = []
  const values = readValues(args, faults)
  const has = toParts(values, faults)
  const ports = choosePorts(values, faults)
  const host = toHost(values.get('host') ?? defaultHost, faults)
  const publicUrl = toPublicUrl(values.get('public-url'), faults)
  const allowedHosts = toHostNames(values.get('allowed-host'), faults)
  if (faults.length === 0) faults.push(...findDuplicatePorts(ports, has))
  if (faults.length > 0) return { faults }
  const folder = resolve(values.get('data') ?? '.portcullis')
  return {
    options: {
      folder,
      isFresh: values.has('fresh'),
      has,
      host,
      ...(publicUrl !== undefined && { publicUrl }),
      allowedHosts,
      ports,
      given: values,
    },
  }
}

/** Returns the last value of each option, all values of a list, and an empty string for a flag. */
function readValues(args: readonly string[], faults: string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(upOptions).map(([name, { needs }]) => [
        name,
        { type: needs === undefined ? 'boolean' : 'string' },
      ]),
    ),
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind === 'positional') {
      faults.push(`Unexpected argument ${JSON.stringify(token.value)}: up takes only options.`)
    } else if (token.kind === 'option') {
      const { name, rawName, value, inlineValue } = token
      const option = Object.hasOwn(upOptions, name) ? upOptions[name] : undefined
      if (option === undefined) {
        faults.push(`Unknown option ${rawName}.`)
      } else if (option.needs === undefined) {
        if (value === undefined) values.set(name, '')
        else faults.push(`--${name} takes no value.`)
      } else if (!value || (!inlineValue && value.startsWith('-'))) {
        faults.push(`--${name} needs ${option.needs}.`)
      } else {
        const earlier = name === 'allowed-host' ? values.get(name) : undefined
        values.set(name, earlier === undefined ? value : `${earlier},${value}`)
      }
    }
  }
  return values
}

function toParts(values: ReadonlyMap<string, string>, faults: string[]): ReadonlySet<PartName> {
  const only = values.get('only')
  const names = only?.split(',').map((name) => name.trim())
  for (const name of names ?? []) {
    if (partNames.some((known) => known === name)) continue
    const suggestion = toQuestion(name, partNames)
    faults.push(
      `--only: unknown part ${JSON.stringify(name)}; the parts are ${listParts()}.${suggestion}`,
    )
  }
  const has = new Set(partNames.filter((name) => names === undefined || names.includes(name)))
  if (values.has('no-console')) {
    has.delete('console')
    if (has.size === 0 && names?.includes('console')) {
      faults.push('--only console together with --no-console leaves nothing to start.')
    }
  }
  return has
}

function listParts(): string {
  return `${partNames.slice(0, -1).join(', ')} and ${partNames.at(-1)}`
}

function choosePorts(values: ReadonlyMap<string, string>, faults: string[]): Ports {
  const base = toNumber(values, 'port-base', 65_536 - listenerNames.length, faults)
  return toPorts((name, index) => {
    const port = toNumber(values, toFlag(name), 65_535, faults)
    if (port !== undefined) return port
    if (base === undefined) return listeners[name].port
    return base === 0 ? 0 : base + index
  })
}

function toNumber(
  values: ReadonlyMap<string, string>,
  name: string,
  greatest: number,
  faults: string[],
): number | undefined {
  const text = values.get(name)
  if (text === undefined) return undefined
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (number <= greatest) return number
  faults.push(toValueFault(`--${name}`, `a number from 0 to ${greatest}`, text))
  return undefined
}

function toHost(text: string, faults: string[]): string {
  if (text === 'localhost') return defaultHost
  if (isIP(text) === 0) {
    faults.push(toValueFault('--host', 'an IP address such as 127.0.0.1 or 0.0.0.0', text))
  }
  return text
}

function toPublicUrl(text: string | undefined, faults: string[]): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  // `URL` drops the default port of a scheme, so a port such as `:443` is detected in the text.
  const hasPort = url?.port !== '' || /:\d*\/?$/.test(text)
  if (isPlain && !hasPort) return url.origin
  faults.push(
    '--public-url must be a scheme and a name such as https://gate.example.com, without port and path, ' +
      `not ${JSON.stringify(text)}. The ports are those of the parts.`,
  )
  return undefined
}

function toHostNames(text: string | undefined, faults: string[]): readonly string[] {
  const names = text === undefined ? [] : text.split(',').map((name) => name.trim())
  for (const name of names) {
    if (isHostName(name)) continue
    faults.push(toValueFault('--allowed-host', 'a host name without scheme and port', name))
  }
  return names
}

/** Reports ports that are assigned twice. */
function findDuplicatePorts(ports: Ports, has: ReadonlySet<PartName>): readonly string[] {
  const open = toListenerNames(has).filter((name) => ports[name] !== 0)
  return open.flatMap((name, index) => {
    const first = open.slice(0, index).find((other) => ports[other] === ports[name])
    if (first === undefined) return []
    const both = `${listeners[first].what} and ${listeners[name].what}`
    return [
      `Port ${ports[name]} is assigned to both ${both}. Change one of them, for example with --${toFlag(name)}.`,
    ]
  })
}
