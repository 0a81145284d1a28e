import { toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import type { Descriptor, Entry } from '../protocol/message.ts'
import { descriptorSyntax, toFlag } from './command-texts.ts'

/** The command-line flags, with Go's syntax: one or two dashes, `-name=value`. */
export interface ClientFlags {
  dial_string: string
  domain: string
  descriptors: readonly Descriptor[]
  hits_addend: number
  count: number
  json: boolean
  'grpc-use-tls': boolean
  'grpc-server-ca-file': string
  'grpc-cert-file': string
  'grpc-key-file': string
  'oltp-protocol': string
}

const defaults: ClientFlags = {
  dial_string: 'localhost:8081',
  domain: '',
  descriptors: [],
  hits_addend: 1,
  count: 1,
  json: false,
  'grpc-use-tls': false,
  'grpc-server-ca-file': '',
  'grpc-cert-file': '',
  'grpc-key-file': '',
  'oltp-protocol': '',
}

interface Flag<Value> {
  /** The placeholder for the value in the help; empty for a switch. */
  readonly placeholder: string
  readonly help: string
  /** Returns the new value, given the earlier one; undefined if the text is invalid. */
  parse(text: string, earlier: Value): Value | undefined
  /** What a valid text is, for the message about an invalid one. */
  readonly expected: string
  toText(value: Value): string
}

const flags: { readonly [Name in keyof ClientFlags]: Flag<ClientFlags[Name]> } = {
  dial_string: textFlag('HOST:PORT', 'the server, or unix:PATH; default: localhost:8081'),
  domain: textFlag('NAME', 'the domain of the rules'),
  descriptors: {
    placeholder: 'ENTRIES',
    help: 'one descriptor, KEY=VALUE[,KEY=VALUE…]; repeatable',
    parse(text, earlier) {
      const descriptor = parseDescriptor(text)
      return descriptor && [...earlier, descriptor]
    },
    expected: descriptorSyntax,
    toText: (descriptors) => descriptors.map(toDescriptorText).join(''),
  },
  hits_addend: numberFlag('the number of hits to add; default: 1'),
  count: numberFlag('the number of calls, one after another; default: 1'),
  json: switchFlag('print only the responses, as JSON'),
  'grpc-use-tls': switchFlag('use TLS'),
  'grpc-server-ca-file': textFlag('FILE', 'trust this CA (PEM) instead of the system CAs'),
  'grpc-cert-file': textFlag('FILE', 'the client certificate (PEM)'),
  'grpc-key-file': textFlag('FILE', 'the private key of the client certificate (PEM)'),
  'oltp-protocol': textFlag('NAME', 'ignored, because this client sends no traces'),
}

/** @throws FlagError for the first invalid argument */
export function parseClientFlags(args: readonly string[]): ClientFlags {
  const values: ClientFlags = { ...defaults }
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, name, inline] = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg) ?? []
    if (name === undefined) throw new FlagError(`Unexpected argument ${JSON.stringify(arg)}.`)
    if (!isFlagName(name)) throw new FlagError(`Unknown option ${toFlag(arg)}.`)
    const isSwitch = flags[name].placeholder === ''
    const text = inline ?? (isSwitch ? 'true' : rest.shift())
    if (text === undefined) throw new FlagError(`${arg} needs a value.`)
    setValue(values, name, text)
  }
  if ((values['grpc-cert-file'] === '') !== (values['grpc-key-file'] === '')) {
    throw new FlagError('-grpc-cert-file and -grpc-key-file must be set together.')
  }
  return values
}

/** An invalid argument. Its message is shown to the user. */
export class FlagError extends Error {
  override readonly name = 'FlagError'
}

/** Formats each flag as `Flag: --NAME="VALUE"`, sorted by name. */
export function toFlagLines(values: ClientFlags): string {
  const toLine = <Name extends keyof ClientFlags>(name: Name) =>
    `Flag: --${name}=${JSON.stringify(flags[name].toText(values[name]))}\n`
  return Object.keys(flags).filter(isFlagName).sort().map(toLine).join('')
}

export function toFlagHelp(): string {
  const rows = Object.entries(flags).map(
    ([name, { placeholder, help }]) => [`-${name} ${placeholder}`.trimEnd(), help] as const,
  )
  const width = Math.max(...rows.map(([flag]) => flag.length))
  return rows.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}\n`).join('')
}

function setValue<Name extends keyof ClientFlags>(
  values: ClientFlags,
  name: Name,
  text: string,
): void {
  const { parse, expected } = flags[name]
  const value = parse(text, values[name])
  if (value === undefined) throw new FlagError(toValueFault(`-${name}`, expected, text))
  values[name] = value
}

function isFlagName(name: string): name is keyof ClientFlags {
  return Object.hasOwn(flags, name)
}

function textFlag(placeholder: string, help: string): Flag<string> {
  return { placeholder, help, parse: (text) => text, expected: 'text', toText: (value) => value }
}

function switchFlag(help: string): Flag<boolean> {
  return { placeholder: '', help, parse: parseSwitch, expected: 'true or false', toText: String }
}

function numberFlag(help: string): Flag<number> {
  const expected = 'a whole number from 0 to 4294967295'
  return { placeholder: 'N', help, parse: parseNumber, expected, toText: String }
}

function parseNumber(text: string): number | undefined {
  const value = Number(text)
  return /^\d+$/.test(text) && value <= 0xffff_ffff ? value : undefined
}

/** Accepts the same spellings as Go. */
function parseSwitch(text: string): boolean | undefined {
  if (/^(1|t|T|true|TRUE|True)$/.test(text)) return true
  if (/^(0|f|F|false|FALSE|False)$/.test(text)) return false
  return undefined
}

function parseDescriptor(text: string): Descriptor | undefined {
  const entries: Entry[] = []
  for (const pair of text.split(',')) {
    const [key, value, ...others] = pair.split('=')
    if (key === undefined || value === undefined || others.length > 0) return undefined
    entries.push({ key, value })
  }
  return { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
}

function toDescriptorText({ entries }: Descriptor): string {
  return `[ ${entries.map(({ key, value }) => `<key=${key}, value=${value}> `).join('')}]`
}
