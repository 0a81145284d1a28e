import { parseArgs } from 'node:util'
import {
  parseOrExplain,
  toValueFault,
  toVerbFault,
} from '@portcullis/service-kit/cli/argument-faults'
import type { Verb } from '@portcullis/service-kit/cli/verbs'
import type { OptionTable } from '../completion/option-table.ts'
import { type NewLimit, unitByName } from '../console/limits/change-limit.ts'
import type { CounterTarget, TopOrder } from '../console/limits/key-pages.ts'
import { dataMeaning } from './find-data-folder.ts'
import { debugTokenVariable, parseBaseUrl, readDebugToken } from './server-arguments.ts'

/** Options of all verbs. The help text and the completion are derived from these tables. */
export const commonOptions = {
  json: { meaning: 'print JSON' },
  data: {
    value: 'DIR',
    meaning: dataMeaning,
    kind: 'directory',
  },
  'debug-url': {
    value: 'URL',
    meaning: 'base URL of the debug port of another rate limit service',
  },
  'debug-token': {
    value: 'TOKEN',
    meaning: `DEBUG_TOKEN of that service, needed if it runs on another machine; prefer ${debugTokenVariable}, since other users of this machine can read command lines`,
  },
} as const satisfies OptionTable

export const topOptions = {
  by: {
    value: 'ORDER',
    meaning: 'with top: limited (hits over the limit) or calls (all hits); default: limited',
    kind: { choices: ['limited', 'calls'] },
  },
  count: { value: 'N', meaning: 'with top: number of keys, up to 1000; default: 20' },
} as const satisfies OptionTable

export const setOptions = {
  'dry-run': { meaning: 'with set: show the effect, and write nothing' },
  rules: {
    value: 'DIR',
    meaning: 'with set: folder of the rule files; default: rules in the data folder',
    kind: 'directory',
  },
} as const satisfies OptionTable

export const limitsVerbs = {
  top: {
    synopsis: '',
    summary: 'list the keys with the most hits, over their limit or in total',
  },
  inspect: {
    synopsis: 'DOMAIN KEY=VALUE…',
    summary: 'show the rule, the window and the hits of one counter',
  },
  reset: { synopsis: 'DOMAIN KEY=VALUE…', summary: 'set one counter to 0' },
  set: {
    synopsis: 'RULE N/UNIT',
    summary: 'change a limit in its rule file: set graphql.user 100/minute',
  },
} as const satisfies Readonly<Record<string, Verb>>

type VerbName = keyof typeof limitsVerbs

/** Where the debug port is. */
export interface DebugPlace {
  /** Undefined to use the one of a running `up`. */
  readonly url: string | undefined
  readonly token: string | undefined
  /** The data folder of `up`, if one was named. */
  readonly data: string | undefined
}

export type LimitsArguments = { readonly place: DebugPlace; readonly isJson: boolean } & (
  | { readonly verb: 'top'; readonly by: TopOrder; readonly count: number }
  | { readonly verb: 'inspect' | 'reset'; readonly target: CounterTarget }
  | {
      readonly verb: 'set'
      readonly rule: string
      readonly limit: NewLimit
      readonly isDryRun: boolean
      /** Undefined to use the folder of a running `up`. */
      readonly rulesDirectory: string | undefined
    }
)

const optionTypes = {
  json: { type: 'boolean', default: false },
  data: { type: 'string' },
  'debug-url': { type: 'string' },
  'debug-token': { type: 'string' },
  by: { type: 'string' },
  count: { type: 'string' },
  'dry-run': { type: 'boolean' },
  rules: { type: 'string' },
} as const

/** The options that only one verb has. */
const ownOptions = {
  by: 'top',
  count: 'top',
  'dry-run': 'set',
  rules: 'set',
} as const satisfies Partial<Record<keyof typeof optionTypes, VerbName>>

/** @returns every error in the arguments if they are invalid. */
export function parseLimitsArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): LimitsArguments | { readonly faults: readonly string[] } {
  const parsed = parseOrExplain(() => parse(args))
  if (typeof parsed === 'string') return { faults: [parsed] }
  const { values, positionals } = parsed
  const [verb, ...operands] = positionals
  if (!isVerb(verb)) return { faults: [toVerbFault(verb, Object.keys(limitsVerbs))] }
  const faults: string[] = []
  const token = readDebugToken(values['debug-token'], env, faults)
  const { 'debug-url': given } = values
  const url = given === undefined ? undefined : parseBaseUrl('--debug-url', given, faults)
  const common = { place: { url, token, data: values.data }, isJson: values.json }
  for (const [name, owner] of Object.entries(ownOptions) as [keyof typeof ownOptions, VerbName][]) {
    if (owner === verb || values[name] === undefined) continue
    faults.push(`--${name} is an option of ${owner}, not of ${verb}.`)
  }
  if (verb === 'top') {
    const by = parseOrder(values.by ?? 'limited', faults)
    const count = parseCount(values.count ?? '20', faults)
    const [other] = operands
    if (other !== undefined) {
      faults.push(`Unexpected argument ${JSON.stringify(other)}: top takes only options.`)
    }
    return faults.length > 0 ? { faults } : { ...common, verb, by, count }
  }
  if (verb === 'set') {
    const [rule = '', text = '', other] = operands
    if (text === '') faults.push('Pass a rule and its new limit: RULE N/UNIT.')
    if (other !== undefined) faults.push(`Unexpected argument ${JSON.stringify(other)}.`)
    const limit = parseLimit(text)
    if (text !== '' && limit === undefined) {
      const expected = 'a number and a unit from second to year, such as 100/minute'
      faults.push(toValueFault('The limit', expected, text))
    }
    if (url !== undefined && values.rules === undefined) {
      faults.push('With --debug-url, set needs --rules DIR: the rule files of that service.')
    }
    if (limit === undefined || faults.length > 0) return { faults }
    const isDryRun = values['dry-run'] === true
    return { ...common, verb, rule, limit, isDryRun, rulesDirectory: values.rules }
  }
  const target = parseTarget(operands, faults)
  return faults.length > 0 ? { faults } : { ...common, verb, target }
}

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options: optionTypes, allowPositionals: true })
}

function isVerb(name: string | undefined): name is VerbName {
  return name !== undefined && Object.hasOwn(limitsVerbs, name)
}

function parseOrder(text: string, faults: string[]): TopOrder {
  if (text === 'limited' || text === 'calls') return text
  faults.push(toValueFault('--by', 'limited or calls', text))
  return 'limited'
}

function parseCount(text: string, faults: string[]): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > 1_000) {
    faults.push(toValueFault('--count', 'a number from 1 to 1000', text))
  }
  return count
}

/** Such as `100/minute`. */
function parseLimit(text: string): NewLimit | undefined {
  const [, count = '', name = ''] = /^(\d{1,10})\/([a-z]+)$/i.exec(text) ?? []
  const unit = unitByName(name)
  const requestsPerUnit = Number(count)
  return unit === undefined || requestsPerUnit > 0xffff_ffff ? undefined : { requestsPerUnit, unit }
}

function parseTarget(operands: readonly string[], faults: string[]): CounterTarget {
  const [domain, ...pairs] = operands
  if (domain === undefined) faults.push('The domain is missing. Pass DOMAIN KEY=VALUE…')
  else if (pairs.length === 0)
    faults.push('The entries of the descriptor are missing. Pass KEY=VALUE… after the domain.')
  const entries = pairs.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) faults.push(`An entry must be KEY=VALUE, not ${JSON.stringify(text)}.`)
    return { key: text.slice(0, at), value: text.slice(at + 1) }
  })
  return { domain: domain ?? '', entries }
}
