import { once } from 'node:events'
import { createServer } from 'node:http'
import type { EffectiveSetting } from '@portcullis/service-kit/settings/effective-settings'
import { type ApiSettings, openApi } from '../../api/api.ts'
import { toLocalHost } from '../addresses.ts'
import { defaultHost } from '../options.ts'
import type { StartPart, UpContext } from '../part.ts'
import { listeners } from '../ports.ts'
import { createCountsRequest } from '../secrets.ts'

/** Starts the example GraphQL API. */
export const startGraphql: StartPart = async (context) => {
  const { host, ports } = context
  const server = createServer(openApi(toApiSettings(context))).listen(ports.graphql, host)
  await once(server, 'listening')
  return {
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function toApiSettings({ host, ports, secrets, has }: UpContext): ApiSettings {
  return {
    ...(has.has('auth') && { signingKeys: { secret: secrets.jwtSecret } }),
    countsRequest: createCountsRequest(secrets),
    ...(has.has('ratelimit') && { ratelimitUrl: `http://${toLocalHost(host)}:${ports.ratelimit}` }),
  }
}

/** Lists the settings of the API for operators. All of them come from the options of `up`. */
export function listApiSettings(context: UpContext): readonly EffectiveSetting[] {
  const { host, ports } = context
  const { signingKeys, ratelimitUrl } = toApiSettings(context)
  const verified = 'access tokens of the auth server'
  const local = `http://${toLocalHost(host)}:${ports.ratelimit}`
  return [
    toSetting('--graphql-port', 'Port of the API', ports.graphql, listeners.graphql.port),
    toSetting('--host', 'Address that all parts listen on', host, defaultHost),
    toSetting(
      'Callers',
      'How the API identifies its callers; without the auth server (--only), all are anonymous',
      signingKeys === undefined ? 'anonymous' : verified,
      verified,
    ),
    toSetting(
      'Rate limits',
      'URL of the rate limit service, whose rules of the domain graphql apply; without the service (--only), there are no limits',
      ratelimitUrl ?? 'no limits',
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
