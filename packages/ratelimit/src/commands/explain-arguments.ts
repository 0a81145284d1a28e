import type { Descriptor, Entry } from '../protocol/message.ts'

export interface ExplainRequest {
  readonly directory: string
  readonly domain: string
  readonly descriptors: readonly Descriptor[]
  /** Undefined: the present. */
  readonly nowSeconds: number | undefined
  readonly merge: boolean
  readonly json: boolean
}

const switches = new Set(['json', 'merge'])
const valued = new Set(['domain', 'descriptors', 'now'])

/** One or two dashes, `-flag value` or `-flag=value`, as the client takes them. A text is a problem. */
export function parseExplainArguments(args: readonly string[]): ExplainRequest | string {
  const given = parseFlags(args)
  if (typeof given === 'string') return given
  const { values, positional } = given
  const [directory, other] = positional
  if (directory === undefined) return 'the directory of the rules is missing'
  if (other !== undefined) return `only one directory can be explained, and ${other} is a second`
  const domain = values.get('domain')?.at(-1)
  if (domain === undefined || domain === '') return '-domain is missing'

  const descriptors: Descriptor[] = []
  for (const text of values.get('descriptors') ?? []) {
    const entries = parseEntries(text)
    if (entries === undefined) {
      return `-descriptors ${text}: entries are written key=value and separated by commas`
    }
    descriptors.push({ entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false })
  }
  if (descriptors.length === 0) return '-descriptors is missing'

  const now = values.get('now')?.at(-1)
  if (now !== undefined && !/^\d{1,15}$/.test(now)) {
    return `-now ${now}: whole seconds since 1970 are expected`
  }
  const nowSeconds = now === undefined ? undefined : Number(now)
  const isOn = (name: string) => values.has(name)
  return { directory, domain, descriptors, nowSeconds, merge: isOn('merge'), json: isOn('json') }
}

interface Flags {
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly positional: readonly string[]
}

function parseFlags(args: readonly string[]): Flags | string {
  const values = new Map<string, string[]>()
  const positional: string[] = []
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, name, inline] = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg) ?? []
    if (name === undefined) {
      positional.push(arg)
    } else if (switches.has(name)) {
      if (inline !== undefined) return `${arg}: -${name} takes no value`
      values.set(name, [])
    } else if (valued.has(name)) {
      const value = inline ?? rest.shift()
      if (value === undefined) return `${arg} needs a value`
      values.set(name, [...(values.get(name) ?? []), value])
    } else {
      return `unknown option ${arg}`
    }
  }
  return { values, positional }
}

function parseEntries(text: string): Entry[] | undefined {
  const entries: Entry[] = []
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=')
    if (at <= 0) return undefined
    entries.push({ key: pair.slice(0, at), value: pair.slice(at + 1) })
  }
  return entries
}
