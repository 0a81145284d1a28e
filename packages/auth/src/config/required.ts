import type { Check } from '@portcullis/service-kit/config-check'
import type { AnyVariable } from '@portcullis/service-kit/env'

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
