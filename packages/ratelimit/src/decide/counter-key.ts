import type { Descriptor } from '../protocol/message.ts'

/**
 * `exact`: no two different descriptors share a counter. `compatible`: the same keys as in
 * envoyproxy/ratelimit, so that both servers can share a store during a migration. Keys of different
 * descriptors can then be equal.
 */
export const keyFormats = ['exact', 'compatible'] as const
export type KeyFormat = (typeof keyFormats)[number]

export interface KeySettings {
  readonly cacheKeyPrefix: string
  readonly keyFormat: KeyFormat
}

/** The properties of a rule that are part of the key. */
export interface KeyRule {
  readonly windowSeconds: number
  /** By entry: the text that replaces the value of the request, if the rule shares a counter. */
  readonly sharedValues: readonly (string | undefined)[] | undefined
}

/** The name of a counter up to its window. */
export function toCounterKey(
  settings: KeySettings,
  domain: string,
  { entries }: Descriptor,
  { windowSeconds, sharedValues }: KeyRule,
): string {
  const isExact = settings.keyFormat === 'exact'
  let key = `${settings.cacheKeyPrefix}${domain}_`
  let hasSeparators = isExact && domain.includes('_')
  for (let i = 0; i < entries.length; i += 1) {
    const entry = entries[i]
    if (entry === undefined) continue
    const value = sharedValues === undefined ? entry.value : (sharedValues[i] ?? entry.value)
    key += `${entry.key}_${isExact ? escapeValue(value) : value}_`
    hasSeparators ||= isExact && entry.key.includes('_')
  }
  if (!isExact) return key
  // Domains and keys come from rules and are not escaped, to keep them readable. If they contain the
  // separator, the key ends with the number of separators in each: otherwise (a_b, c) and (a, b_c)
  // could share a counter.
  const shape = hasSeparators ? toShape(domain, entries) : ''
  return `${key}${windowSeconds}s${shape}_`
}

/**
 * Creates counter keys for descriptors whose keys and rule are known in advance, with one concatenation per value.
 */
export class CounterKeyTemplate {
  /** The text before each value. */
  readonly #before: readonly string[]
  readonly #end: string
  readonly #isExact: boolean
  readonly #sharedValues: KeyRule['sharedValues']

  constructor(settings: KeySettings, domain: string, keys: readonly string[], rule: KeyRule) {
    this.#isExact = settings.keyFormat === 'exact'
    this.#before = keys.map(
      (key, at) => `${at === 0 ? `${settings.cacheKeyPrefix}${domain}` : ''}_${key}_`,
    )
    const entries = keys.map((key) => ({ key, value: '' }))
    const descriptor = { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
    const withoutValues = toCounterKey(settings, domain, descriptor, {
      ...rule,
      sharedValues: undefined,
    })
    this.#end = withoutValues.slice(this.#before.join('').length)
    this.#sharedValues = rule.sharedValues
  }

  /** The texts before and after the value; undefined if there are several values. */
  get textsAround(): { readonly before: string; readonly after: string } | undefined {
    const [before] = this.#before
    const isOnly = this.#before.length === 1 && this.#sharedValues === undefined
    return before === undefined || !isOnly ? undefined : { before, after: this.#end }
  }

  /** @param values - one for each key */
  toKey(values: readonly string[]): string {
    let key = ''
    for (let i = 0; i < this.#before.length; i += 1) {
      const value = this.#sharedValues?.[i] ?? values[i] ?? ''
      key += this.#before[i]
      key += this.#isExact ? escapeValue(value) : value
    }
    return key + this.#end
  }
}

/**
 * Whether a value certainly needs no escaping. Most values are short, and a loop is faster than a regular
 * expression.
 */
function isPlain(value: string): boolean {
  for (let i = 0; i < value.length; i += 1) {
    const code = value.charCodeAt(i)
    if (code <= 0x20 || code >= 0x7f || code === percent || code === underscore) return false
  }
  return true
}

const percent = 0x25
const underscore = 0x5f

/** The separator, the escape character, and characters that keys in stores must not contain. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const isUnsafe = /[%_\u0000-\u0020\u007f\p{Surrogate}]/u
const unsafe = new RegExp(isUnsafe, 'gu')

function escapeValue(value: string): string {
  if (isPlain(value) || !isUnsafe.test(value)) return value
  return value.replaceAll(unsafe, (character) => {
    // Only lone surrogates have more than two hexadecimal digits.
    const code = character.charCodeAt(0).toString(16).toUpperCase()
    return `%${code.padStart(2, '0')}`
  })
}

function toShape(domain: string, entries: Descriptor['entries']): string {
  const names = [domain, ...entries.map(({ key }) => key)]
  return names.map((name) => `.${name.split('_').length - 1}`).join('')
}
