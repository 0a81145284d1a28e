import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  hideAll,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { checkWebUrl, type HeaderLists, toHeaderLists } from '../checks.ts'
import { withOldNames } from '../variables.ts'

export const emailValidation = {
  title: 'Validation of email addresses',
  variables: withOldNames({
    extended: boolean(
      'AUTH_MAILER_EMAIL_VALIDATION_EXTENDED',
      false,
      'Whether messages are refused for addresses whose domain is reserved for examples or, according to the DNS, receives no email',
    ),
    serviceUrl: string(
      'AUTH_MAILER_EMAIL_VALIDATION_SERVICE_URL',
      '',
      'URL of a service that is asked before a message is sent: it receives {"email": "…"} and responds {"valid": false} to refuse the address',
    ),
    serviceHeaders: string(
      'AUTH_MAILER_EMAIL_VALIDATION_SERVICE_HEADERS',
      '',
      'Headers for that service as JSON: {"Authorization": ["Bearer …"]}',
      { mask: hideAll },
    ),
    blockedMx: string(
      'AUTH_MAILER_EMAIL_VALIDATION_BLOCKED_MX',
      '',
      'With AUTH_MAILER_EMAIL_VALIDATION_EXTENDED: mail servers whose domains are refused, as JSON: ["mx.example.net"]',
    ),
  }),
} satisfies Chapter

export interface EmailValidationConfig {
  /** Whether the domain of an address is checked. */
  readonly extended: boolean
  /** Undefined if no service is configured. */
  readonly service: { readonly url: string; readonly headers: HeaderLists } | undefined
  /** Host names in lower case, without a trailing dot. */
  readonly blockedMx: readonly string[]
}

export function toEmailValidation(
  settings: Settings<typeof emailValidation.variables>,
  check: Check,
): EmailValidationConfig {
  const { variables } = emailValidation
  const url = settings.serviceUrl.trim()
  checkWebUrl(variables.serviceUrl, url, check)
  const headers = toHeaderLists(variables.serviceHeaders, settings.serviceHeaders, check)
  const blockedMx = parseHosts(settings.blockedMx)
  if (blockedMx === undefined) {
    check.fault(variables.blockedMx, 'must be a JSON list of host names: ["mx.example.net"]')
  } else if (blockedMx.length > 0 && !settings.extended) {
    const names = [variables.blockedMx, variables.extended].map(check.nameOf)
    check.note(`${names[0]} has no effect: ${names[1]} is false`)
  }
  if (url === '' && settings.serviceHeaders.trim() !== '') {
    const names = [variables.serviceHeaders, variables.serviceUrl].map(check.nameOf)
    check.note(`${names[0]} has no effect: ${names[1]} is not set`)
  }
  return {
    extended: settings.extended,
    service: url === '' ? undefined : { url, headers },
    blockedMx: blockedMx ?? [],
  }
}

function parseHosts(text: string): readonly string[] | undefined {
  if (text.trim() === '') return []
  try {
    const value: unknown = JSON.parse(text)
    const isList = Array.isArray(value) && value.every((each) => typeof each === 'string')
    return isList ? value.map((host: string) => host.toLowerCase().replace(/\.$/, '')) : undefined
  } catch {
    return undefined
  }
}
