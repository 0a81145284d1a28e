import { isIP } from 'node:net'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import type { AnyVariable } from '@portcullis/service-kit/settings/env'
import { parseLineTemplate, parseTextTemplate, TemplateError } from '../template/index.ts'

/** Checks a variable that has no sensible default. */
export function checkPresent(variable: AnyVariable, value: string, check: Check): void {
  if (value.trim() === '') check.fault(variable, `is required: ${variable.help}`)
}

/** Without this, `localhost:3000` would parse as the path 3000 of a scheme `localhost:`. */
const absolute = /^[a-z][a-z\d+.-]*:\//i

export function checkUrl(variable: AnyVariable, value: string, check: Check): void {
  if (value !== '' && !(absolute.test(value) && URL.canParse(value))) {
    check.fault(variable, 'must be an absolute URL, such as https://example.com')
  }
}

/** Checks a URL that this server requests or that links point to. */
export function checkWebUrl(variable: AnyVariable, value: string, check: Check): void {
  if (value !== '' && !(/^https?:\/\//i.test(value) && URL.canParse(value))) {
    check.fault(variable, 'must be an absolute URL that starts with https:// or http://')
  }
}

/** A token according to RFC 9110, section 5.6.2. */
const token = /^[\w!#$%&'*+.^`|~-]+$/

export function checkHeaderName(variable: AnyVariable, value: string, check: Check): void {
  if (value === '' || token.test(value)) return
  check.fault(variable, `must be the name of a header, such as X-Real-IP, not ${value}`)
}

/** Labels of letters, digits, hyphens and underscores, which some networks use. */
const hostName = /^(?=.{1,253}$)(?:[\w](?:[\w-]{0,61}[\w])?\.)*[\w](?:[\w-]{0,61}[\w])?\.?$/

/** Checks a host name or IP address, without a scheme, port or brackets. */
export function checkHost(variable: AnyVariable, value: string, check: Check): void {
  // Text that consists of digits and dots only must be a valid address.
  const isName = hostName.test(value) && !/^[\d.]+$/.test(value)
  if (value === '' || isIP(value) !== 0 || isName) return
  check.fault(variable, 'must be a host name or an address, such as mail.example.com or 127.0.0.1')
}

/** An upper limit for durations, so that none overflows a Node.js timer or a database column. */
interface Longest {
  readonly ms: number
  readonly text: string
}

/** Limit for operations that a client waits for. */
export const oneHour: Longest = { ms: 3_600_000, text: '1h' }
/** Limit for background work. */
export const oneDay: Longest = { ms: 86_400_000, text: '24h' }
/** Limit for periods that are stored in the database. */
export const tenYears: Longest = { ms: 315_360_000_000, text: '87600h, which is ten years' }

export const tenYearsInSeconds = tenYears.ms / 1_000

export function checkDuration(
  variable: AnyVariable,
  valueMs: number,
  longest: Longest,
  check: Check,
): void {
  if (valueMs > longest.ms) check.fault(variable, `must be at most ${longest.text}`)
}

/** Reports a broken template at startup instead of when a message is due. */
export function checkTextTemplate(variable: AnyVariable, source: string, check: Check): void {
  checkTemplate(parseTextTemplate, variable, source, check)
}

/** Checks the template of a subject, which must be a single line. */
export function checkLineTemplate(variable: AnyVariable, source: string, check: Check): void {
  checkTemplate(parseLineTemplate, variable, source, check)
}

function checkTemplate(
  parse: (source: string) => unknown,
  variable: AnyVariable,
  source: string,
  check: Check,
): void {
  try {
    parse(source)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    check.fault(variable, `is not a valid template: ${error.message}`)
  }
}

/** The values of each header by its name. */
export type HeaderLists = Readonly<Record<string, readonly string[]>>

/** Parses `{"Name": ["value", …]}`. Reports a fault if it is anything else. */
export function toHeaderLists(variable: AnyVariable, text: string, check: Check): HeaderLists {
  if (text.trim() === '') return {}
  const parsed = parseObject(text)
  if (parsed === undefined) {
    check.fault(
      variable,
      'must be a JSON object with a list of strings for each header: {"X-Tag": ["a"]}',
    )
    return {}
  }
  const entries = Object.entries(parsed)
  const badNames = entries.map(([name]) => name).filter((name) => !token.test(name))
  if (badNames.length > 0) {
    check.fault(
      variable,
      `${badNames.map((name) => JSON.stringify(name)).join(', ')} is not a valid header name`,
    )
  }
  // A line break would start another header.
  const hasControlCharacter = ([, values]: readonly [string, readonly string[]]) =>
    values.some((value) => /\p{Cc}/u.test(value))
  const unsafe = entries.filter(hasControlCharacter).map(([name]) => name)
  if (unsafe.length > 0) {
    check.fault(
      variable,
      `the values of ${unsafe.join(', ')} must not contain line breaks or control characters`,
    )
  }
  return parsed
}

function parseObject(text: string): HeaderLists | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const isList = (each: unknown) =>
    Array.isArray(each) && each.every((item) => typeof item === 'string')
  return Object.values(value).every(isList) ? (value as HeaderLists) : undefined
}
