import type { Check } from '@portcullis/service-kit/config-check'
import type { AnyVariable } from '@portcullis/service-kit/env'

/** For what has no default that could be right. */
export function checkPresent(variable: AnyVariable, value: string, check: Check): void {
  if (value === '') check.fault(variable, `is required: ${variable.help}`)
}

export function checkUrl(variable: AnyVariable, value: string, check: Check): void {
  if (value !== '' && !URL.canParse(value)) {
    check.fault(variable, 'must be a whole URL, such as https://example.com')
  }
}
