import { BlockList, isIP } from 'node:net'
import type { Check } from '@portcullis/service-kit/config-check'
import type { Variables } from '@portcullis/service-kit/env'

interface TemplateSettings {
  /** The values by the keys of the variables. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly variables: Variables
  /** Hosts in the internal network that are allowed: AUTH_MAILER_TEMPLATE_ALLOWED_HOSTS. */
  readonly allowed: readonly string[]
  readonly siteUrl: string
}

/**
 * Warns at startup about templates that will not be fetched. Supabase Auth fetches them from any
 * host; here, hosts in the internal network must be listed.
 */
export function noteInternalTemplates(
  { settings, variables, allowed, siteUrl }: TemplateSettings,
  check: Check,
): void {
  const known = [URL.parse(siteUrl)?.hostname ?? '', ...allowed]
  const byHost = new Map<string, string[]>()
  for (const [key, variable] of Object.entries(variables)) {
    if (!variable.name.startsWith('AUTH_MAILER_TEMPLATES_')) continue
    const host = URL.parse(`${settings[key]}`.trim())?.hostname ?? ''
    if (host === '' || known.includes(host) || !isInternal(host)) continue
    byHost.set(host, [...(byHost.get(host) ?? []), check.nameOf(variable)])
  }
  for (const [host, names] of byHost) {
    const list = [...allowed, host].join(',')
    check.note(
      `${names.join(', ')}: ${host} is a host of the internal network, from which no template is ` +
        `fetched, so the built-in template is used. To allow it, set AUTH_MAILER_TEMPLATE_ALLOWED_HOSTS=${list}`,
    )
  }
}

const internalNames = /^[^.]+$|(?:^|\.)localhost$|\.(?:local|internal|lan|intranet|home\.arpa)$/i

const internalAddresses = new BlockList()
internalAddresses.addSubnet('10.0.0.0', 8, 'ipv4')
internalAddresses.addSubnet('100.64.0.0', 10, 'ipv4')
internalAddresses.addSubnet('127.0.0.0', 8, 'ipv4')
internalAddresses.addSubnet('172.16.0.0', 12, 'ipv4')
internalAddresses.addSubnet('192.168.0.0', 16, 'ipv4')
internalAddresses.addAddress('::1', 'ipv6')
internalAddresses.addSubnet('fc00::', 7, 'ipv6')

/** Looks only at the name, without DNS. Services of a compose file have names such as `kong`. */
function isInternal(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '')
  const version = isIP(address)
  if (version === 0) return internalNames.test(host)
  return internalAddresses.check(address, version === 4 ? 'ipv4' : 'ipv6')
}
