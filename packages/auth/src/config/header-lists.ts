import type { Check } from '@portcullis/service-kit/settings/config-check'
import type { AnyVariable } from '@portcullis/service-kit/settings/env'

/** The values of each header by its name. */
export type HeaderLists = Readonly<Record<string, readonly string[]>>

/** A token according to RFC 9110, section 5.6.2. */
const token = /^[\w!#$%&'*+.^`|~-]+$/

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
