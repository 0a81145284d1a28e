import { isIP } from 'node:net'
import type { Check } from '@portcullis/service-kit/config-check'
import { boolean, type Chapter, integer, list, type Settings } from '@portcullis/service-kit/env'
import { withOldNames } from './auth-name.ts'

export const proxies = {
  title: 'Behind a proxy',
  variables: withOldNames({
    hops: integer(
      'AUTH_TRUSTED_HOPS',
      0,
      'How many proxies in front of this server append an address to the forwarding header ' +
        '(AUTH_RATE_LIMIT_HEADER, or X-Forwarded-For): the client is that many values from the right',
      { max: 100, defaultText: '1 with AUTH_RATE_LIMIT_HEADER, otherwise no header is trusted' },
    ),
    addresses: list(
      'AUTH_TRUSTED_PROXIES',
      [],
      'Addresses of proxies, such as 10.0.0.0/8,2001:db8::1: a forwarding header counts only if it ' +
        'comes from one of these. Without AUTH_TRUSTED_HOPS the client is the last address in it ' +
        'that is not one of them',
      { defaultText: 'none are listed' },
    ),
    takesSbForwardedFor: boolean(
      'AUTH_SECURITY_SB_FORWARDED_FOR_ENABLED',
      false,
      'Whether Sb-Forwarded-For is the forwarding header where a request has it; only where a ' +
        'proxy writes that header',
    ),
  }),
} satisfies Chapter

/** Which forwarding headers are trusted, and from whom. `http/client-address.ts` reads them. */
export interface ProxiesConfig {
  /** In lower case; the first one with a usable value counts. Empty: no header is trusted. */
  readonly headers: readonly string[]
  /** Undefined: the client is the last address that is not a trusted proxy. */
  readonly hops: number | undefined
  /** Empty: a trusted header counts whoever sends it. */
  readonly trusted: readonly Subnet[]
}

export interface Subnet {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

export const noProxyRemark =
  'No proxy is trusted, so that clients are told apart by the address of their connection. Behind a ' +
  'proxy all users would share one limit: set AUTH_TRUSTED_PROXIES (or AUTH_TRUSTED_HOPS) there'

export const sbForwardedFor = 'sb-forwarded-for'
export const xForwardedFor = 'x-forwarded-for'

/** @param limitHeader AUTH_RATE_LIMIT_HEADER in lower case. */
export function toProxies(
  settings: Settings<typeof proxies.variables>,
  limitHeader: string | undefined,
  check: Check,
): ProxiesConfig {
  const { variables } = proxies
  const { hops, takesSbForwardedFor } = settings
  const subnets = settings.addresses.map(parseSubnet)
  for (const [at, subnet] of subnets.entries()) {
    if (subnet !== undefined) continue
    const message = `${settings.addresses[at]} is not an address or a network such as 10.0.0.0/8`
    check.fault(variables.addresses, message)
  }
  const trusted = subnets.filter((subnet) => subnet !== undefined)
  const isListed = settings.addresses.length > 0
  if (check.isSet(variables.hops) && hops === 0 && limitHeader !== undefined && !isListed) {
    check.fault(variables.hops, 'must be at least 1: AUTH_RATE_LIMIT_HEADER would have no effect')
  }
  const header = limitHeader ?? (hops > 0 || isListed ? xForwardedFor : undefined)
  return {
    headers: [takesSbForwardedFor ? sbForwardedFor : undefined, header].filter(
      (name) => name !== undefined,
    ),
    hops: hops > 0 ? hops : isListed ? undefined : 1,
    trusted,
  }
}

function parseSubnet(text: string): Subnet | undefined {
  const [, address = '', digits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  const longest = version === 4 ? 32 : 128
  const prefix = digits === undefined ? longest : Number(digits)
  if (version === 0 || prefix > longest) return undefined
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}
