import { isIP } from 'node:net'
import type { Check } from '@portcullis/service-kit/config-check'
import type { AnyVariable } from '@portcullis/service-kit/env'
import { parseLineTemplate, parseTextTemplate, TemplateError } from '../template/index.ts'

/** For what has no default that could be right. */
export function checkPresent(variable: AnyVariable, value: string, check: Check): void {
  if (value.trim() === '') check.fault(variable, `is required: ${variable.help}`)
}

/** `localhost:3000` would be the path 3000 of a scheme `localhost:`, which nobody means. */
const absolute = /^[a-z][a-z\d+.-]*:\//i

export function checkUrl(variable: AnyVariable, value: string, check: Check): void {
  if (value !== '' && !(absolute.test(value) && URL.canParse(value))) {
    check.fault(variable, 'must be a whole URL, such as https://example.com')
  }
}

/** For what is asked over the web, or links lead to. */
export function checkWebUrl(variable: AnyVariable, value: string, check: Check): void {
  if (value !== '' && !(/^https?:\/\//i.test(value) && URL.canParse(value))) {
    check.fault(variable, 'must be a whole URL that begins with https:// or http://')
  }
}

/** RFC 9110, 5.6.2. */
const token = /^[\w!#$%&'*+.^`|~-]+$/

export function checkHeaderName(variable: AnyVariable, value: string, check: Check): void {
  if (value === '' || token.test(value)) return
  check.fault(variable, `must be the name of a header, such as X-Real-IP, not ${value}`)
}

/** Labels of letters, digits, hyphens and, as some networks have them, underscores. */
const hostName = /^(?=.{1,253}$)(?:[\w](?:[\w-]{0,61}[\w])?\.)*[\w](?:[\w-]{0,61}[\w])?\.?$/

/** A name or an address, without a scheme, a port or brackets. */
export function checkHost(variable: AnyVariable, value: string, check: Check): void {
  // Digits and dots alone are an address or nothing.
  const isName = hostName.test(value) && !/^[\d.]+$/.test(value)
  if (value === '' || isIP(value) !== 0 || isName) return
  check.fault(variable, 'must be a host name or an address, such as mail.example.com or 127.0.0.1')
}

/** Longer ones no timer of Node can have, and no column of seconds. */
export interface Longest {
  readonly ms: number
  readonly text: string
}

/** What somebody waits for. */
export const oneHour: Longest = { ms: 3_600_000, text: '1h' }
/** What a process does meanwhile. */
export const oneDay: Longest = { ms: 86_400_000, text: '24h' }
/** What the database remembers. */
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

/** A broken template would otherwise only show when a message is due. */
export function checkTextTemplate(variable: AnyVariable, source: string, check: Check): void {
  checkTemplate(parseTextTemplate, variable, source, check)
}

/** For subjects, which are one line. */
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
    check.fault(variable, `is not a template: ${error.message}`)
  }
}
