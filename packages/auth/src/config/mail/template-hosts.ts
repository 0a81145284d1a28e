import { isIP } from 'node:net'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import type { Variables } from '@portcullis/service-kit/settings/env'
import { classifyAddress } from '../../outgoing/address-check.ts'

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

/** Looks only at the name, without DNS. Services of a compose file have names such as `kong`. */
function isInternal(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '')
  if (isIP(address) === 0) return internalNames.test(host)
  return classifyAddress(address) === 'internal'
}
