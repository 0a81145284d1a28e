import { Resolver } from 'node:dns/promises'
import { toCode } from '@portcullis/service-kit/text/reason'

/** The servers that receive the email of a domain. */
export interface MailHosts {
  /**
   * Returns the host names of the mail servers, or the addresses of the domain itself if it names
   * none (RFC 5321, section 5.1). Empty: the domain does not exist or receives no email. Undefined:
   * the DNS did not respond, so nothing is known.
   */
  find(domain: string): Promise<readonly string[] | undefined>
}

export interface MailHostsSettings {
  readonly timeoutMs: number
  /** Name servers, such as 127.0.0.1:53. Default: those of the system. */
  readonly servers?: readonly string[] | undefined
}

export function createMailHosts({ timeoutMs, servers }: MailHostsSettings): MailHosts {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 })
  if (servers !== undefined) resolver.setServers(servers)
  return {
    async find(domain) {
      // The final dot prevents the search domains of this machine from being tried.
      const name = `${domain.replace(/\.$/, '')}.`
      const records = await query(() => resolver.resolveMx(name))
      if (records === undefined) return undefined
      // RFC 7505: a single record without a name says that the domain receives no email.
      if (records.length > 0) {
        return records.map(({ exchange }) => toHost(exchange)).filter((host) => host !== '')
      }
      const found = await Promise.all([
        query(() => resolver.resolve4(name)),
        query(() => resolver.resolve6(name)),
      ])
      const addresses = found.flatMap((each) => each ?? [])
      return addresses.length === 0 && found.includes(undefined) ? undefined : addresses
    },
  }
}

const absentCodes: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA'])

/** Returns no records if there are none, and undefined if the DNS did not respond. */
async function query<Entry>(resolve: () => Promise<readonly Entry[]>) {
  try {
    return await resolve()
  } catch (error) {
    return absentCodes.has(toCode(error)) ? [] : undefined
  }
}

function toHost(exchange: string): string {
  return exchange.toLowerCase().replace(/\.$/, '')
}
