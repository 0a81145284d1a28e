import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { EmailValidationConfig } from '../../config/mail/email-validation.ts'
import { ApiError } from '../../errors.ts'
import { request } from '../../outgoing/http-client.ts'
import { createMailHosts, type MailHosts } from '../../outgoing/mail-hosts.ts'

/** Decides whether messages may be sent to an address. */
export interface EmailCheck {
  /** @throws {ApiError} if the address cannot receive messages. */
  check(email: string): Promise<void>
}

export interface EmailCheckSettings {
  readonly config: EmailValidationConfig
  readonly log: Pick<Log, 'warning'>
  /** Short, because a client waits for the check. */
  readonly timeoutMs: number
  /** Name servers. Default: those of the system. */
  readonly dnsServers?: readonly string[] | undefined
}

/** RFC 2606 and RFC 6761 reserve these names, so no mailbox has such an address. */
const reservedNames = /(?:^|\.)(?:test|example|invalid|localhost|local)$/
const exampleDomains = /(?:^|\.)example\.(?:com|net|org)$/

/** Google requires at least six characters in the name of a mailbox. */
const shortGmail = /^[^@]{1,5}@gmail\.com$/

const maxBytes = 1_024

/** Returns undefined if nothing is checked. */
export function createEmailCheck(settings: EmailCheckSettings): EmailCheck | undefined {
  const { config, timeoutMs, dnsServers } = settings
  if (!config.extended && config.service === undefined) return undefined
  const hosts = createMailHosts({ timeoutMs, servers: dnsServers })
  const askService = createServiceCheck(settings)
  return {
    async check(email) {
      // A reserved address is refused without requests to other servers.
      if (config.extended && isReserved(email)) throw invalidAddress(email)
      const [receives, isAccepted] = await Promise.all([
        config.extended ? receivesEmail(hosts, email, config.blockedMx) : true,
        askService(email),
      ])
      if (!receives || !isAccepted) throw invalidAddress(email)
    },
  }
}

function toDomain(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}

function isReserved(email: string): boolean {
  const domain = toDomain(email)
  const hasDot = domain.includes('.')
  return (
    !hasDot || reservedNames.test(domain) || exampleDomains.test(domain) || shortGmail.test(email)
  )
}

/** If the DNS is unavailable, no address is refused. */
async function receivesEmail(
  hosts: MailHosts,
  email: string,
  blocked: readonly string[],
): Promise<boolean> {
  const found = await hosts.find(toDomain(email))
  if (found === undefined) return true
  return found.length > 0 && !found.some((host) => blocked.includes(host))
}

/** Only `{"valid": false}` refuses an address; if the service is unavailable, none is refused. */
function createServiceCheck({ config: { service }, log, timeoutMs }: EmailCheckSettings) {
  let hasFailed = false
  return async (email: string): Promise<boolean> => {
    if (service === undefined) return true
    const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json' })
    for (const [name, values] of Object.entries(service.headers)) {
      for (const value of values) headers.set(name, value)
    }
    const body = JSON.stringify({ email })
    const init = { method: 'POST', redirect: 'manual', headers, body } as const
    try {
      const { status, text } = await request(service.url, init, { timeoutMs, maxBytes })
      if (status < 200 || status > 299) throw new Error(`status ${status}`)
      const verdict: unknown = JSON.parse(text)
      hasFailed = false
      const hasVerdict = typeof verdict === 'object' && verdict !== null && 'valid' in verdict
      return !(hasVerdict && verdict.valid === false)
    } catch (error) {
      const reason = toReason(error)
      if (!hasFailed) {
        log.warning(
          `The email validation service does not respond as expected: ${reason}. Until it does, no address is refused`,
        )
      }
      hasFailed = true
      return true
    }
  }
}

function invalidAddress(email: string): ApiError {
  return new ApiError('email_address_invalid', `Email address "${email}" is invalid`)
}
