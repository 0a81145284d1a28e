import { type Code, type Descriptor, type DescriptorStatus, OK, OVER_LIMIT } from '../../engine.ts'
import { type Explanation, type Match, type RuleSnapshot, toLimitText } from '../../rules/index.ts'
import { parseSpanMs, toLimitForm } from './written-values.ts'

/** A field that a test can check. Expected and actual values are compared as text. */
export interface ExpectedField {
  /** The valid values, for messages. */
  readonly form: string
  /** Returns undefined for an invalid value. */
  parse(text: string): string | undefined
  toText(answer: DescriptorAnswer): string
}

/** Fields by their names in the file, in the order of messages. */
export const expectedFields: Readonly<Record<string, ExpectedField>> = {
  code: {
    form: 'ok or over_limit',
    parse: parseCode,
    toText: ({ status }) => toCodeText(status.code),
  },
  remaining: {
    form: 'an integer',
    parse: (text) => (/^\d{1,10}$/.test(text) ? String(Number(text)) : undefined),
    toText: ({ status }) => String(status.limitRemaining),
  },
  reset: {
    form: "a time of whole seconds such as 60s or '5 minutes', or none",
    parse: parseReset,
    toText: ({ status }) => toResetText(status.resetSeconds),
  },
  rule: {
    form: 'the path of a rule such as api.user, none, or request for a limit of the request',
    parse: (text) => text || undefined,
    toText: (answer) => {
      const { match, descriptor } = answer
      if (match === undefined) return toRuleText(answer.explain())
      return descriptor.limit === undefined ? match.limit.path : 'request'
    },
  },
  limit: {
    form: "a limit such as 5/minute or '5 every 10 minutes', unlimited, or none",
    parse: toLimitForm,
    toText: ({ status, match }) =>
      match === undefined || isReplaced(status, match) ? 'none' : toLimitText(match.limit),
  },
}

const codeTexts: Readonly<Record<Code, string>> = { [OK]: 'ok', [OVER_LIMIT]: 'over_limit' }

export function toCodeText(code: Code): string {
  return codeTexts[code]
}

function parseCode(text: string): string | undefined {
  const lower = text.toLowerCase()
  return Object.values(codeTexts).find((code) => code === lower)
}

export function toResetText(seconds: number | undefined): string {
  return seconds === undefined ? 'none' : `${seconds}s`
}

function parseReset(text: string): string | undefined {
  if (text === 'none') return text
  const ms = parseSpanMs(text)
  return ms === undefined || ms % 1000 !== 0 ? undefined : toResetText(ms / 1000)
}

/** The path of the rule that matches all entries, whether it has a limit or not. */
export function toRuleText({ outcome, levels }: Explanation): string {
  if (outcome === 'limited by the request') return 'request'
  return levels.at(-1)?.rule?.path ?? 'none'
}

/** Whether another limit of the request replaces this one: then the status has none. */
export function isReplaced(
  { currentLimit }: DescriptorStatus,
  { limit }: Pick<Match, 'limit'>,
): boolean {
  return currentLimit === undefined && !limit.unlimited
}

/** The result for one descriptor. The explanation is computed on demand, because it takes time. */
export class DescriptorAnswer {
  readonly status: DescriptorStatus
  readonly descriptor: Descriptor
  readonly #domain: string
  readonly #rules: RuleSnapshot

  constructor(
    status: DescriptorStatus,
    domain: string,
    descriptor: Descriptor,
    rules: RuleSnapshot,
  ) {
    this.status = status
    this.descriptor = descriptor
    this.#domain = domain
    this.#rules = rules
  }

  get match(): Match | undefined {
    if (!this.#rules.hasDomain(this.#domain)) return undefined
    return this.#rules.match(this.#domain, this.descriptor)
  }

  /** Explains the result in detail; with a large set of rules this takes milliseconds. */
  explain(): Explanation {
    return this.#rules.explain(this.#domain, this.descriptor)
  }
}
