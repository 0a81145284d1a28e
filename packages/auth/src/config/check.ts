import type { AnyVariable } from '@portcullis/service-kit/env'

/** Where the chapters report what no single variable can tell. */
export interface Check {
  /** The server cannot start like this. */
  fault(variable: AnyVariable, message: string): void
  /** Worth a warning. */
  note(text: string): void
  isSet(variable: AnyVariable): boolean
  /** The name as it was set, or the main one: what a message calls the variable. */
  nameOf(variable: AnyVariable): string
}

/** For what has no default that could be right. */
export function checkPresent(variable: AnyVariable, value: string, check: Check): void {
  if (value === '') check.fault(variable, `is required: ${variable.help}`)
}

export function checkUrl(variable: AnyVariable, value: string, check: Check): void {
  if (value !== '' && !URL.canParse(value)) {
    check.fault(variable, 'must be a whole URL, such as https://example.com')
  }
}
