import { once } from 'node:events'
import { createVerifier, type Verifier } from '@portcullis/auth/verify'
import { createServer } from '@portcullis/service-kit/http'
import type { EffectiveSetting } from '@portcullis/service-kit/settings/effective-settings'
import { openApi } from '../../api/api.ts'
import type { KeyOptions } from '../../api/callers.ts'
import { toLocalHost } from '../addresses.ts'
import { defaultHost } from '../options.ts'
import type { StartPart, UpContext } from '../part.ts'
import { listeners } from '../ports.ts'
import { createCountsRequest, createRevocationKeys, createVerifierKeys } from '../secrets.ts'

/** Starts the example GraphQL API. */
export const startGraphql: StartPart = async (context) => {
  const { host, ports, secrets, has } = context
  const verifier = has.has('auth') ? openVerifier(context) : undefined
  const listener = openApi({
    ...(verifier && { verifier, keys: toKeyOptions(context) }),
    countsRequest: createCountsRequest(secrets),
    ...(has.has('ratelimit') && { ratelimitUrl: toLocalUrl(context, 'ratelimit') }),
  })
  const server = createServer(listener).listen(ports.graphql, host)
  await once(server, 'listening')
  return {
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      await verifier?.close()
    },
  }
}

/** Tokens are verified here; the auth server reports the sessions that have ended. */
function openVerifier(context: UpContext): Verifier {
  const { jwtSecret } = context.secrets
  const authUrl = toLocalUrl(context, 'auth')
  return createVerifier({
    authUrl,
    // Tokens of `portcullis token` are signed with the secret.
    secret: jwtSecret,
    revocation: { authUrl, key: createRevocationKeys(jwtSecret) },
  })
}

function toKeyOptions(context: UpContext): KeyOptions {
  return {
    authUrl: toLocalUrl(context, 'auth'),
    token: createVerifierKeys(context.secrets.jwtSecret),
  }
}

function toLocalUrl({ host, ports }: UpContext, part: 'auth' | 'ratelimit'): string {
  return `http://${toLocalHost(host)}:${ports[part]}`
}

/** Lists the settings of the API for operators. All of them come from the options of `up`. */
export function listApiSettings(context: UpContext): readonly EffectiveSetting[] {
  const { host, ports, has } = context
  const verified = 'access tokens of the auth server'
  const local = toLocalUrl(context, 'ratelimit')
  return [
    toSetting('--graphql-port', 'Port of the API', ports.graphql, listeners.graphql.port),
    toSetting('--host', 'Address that all parts listen on', host, defaultHost),
    toSetting(
      'Callers',
      'How the API identifies its callers; without the auth server (--only), all are anonymous',
      has.has('auth') ? verified : 'anonymous',
      verified,
    ),
    toSetting(
      'Rate limits',
      'URL of the rate limit service, whose rules of the domain graphql apply; without the service (--only), there are no limits',
      has.has('ratelimit') ? local : 'no limits',
      local,
    ),
  ]
}

function toSetting(
  name: string,
  help: string,
  value: string | number,
  byDefault: string | number,
): EffectiveSetting {
  const isChanged = value !== byDefault
  return {
    name,
    chapter: 'Options of portcullis up',
    help,
    type: typeof value === 'number' ? 'port' : 'string',
    default: `${byDefault}`,
    source: isChanged ? 'argument' : 'default',
    is_secret: false,
    is_set: isChanged,
    is_changed: isChanged,
    value: `${value}`,
  }
}
