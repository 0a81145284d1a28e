import { once } from 'node:events'
import { createServer } from 'node:http'
import type { EffectiveSetting } from '@portcullis/service-kit/effective-settings'
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
    toSetting('--graphql-port', 'port', 'Port of the API', ports.graphql, listeners.graphql.port),
    toSetting('--host', 'string', 'Address that all parts listen on', host, defaultHost),
    toSetting(
      '--only (auth)',
      'string',
      'How the API identifies its callers',
      signingKeys === undefined ? 'no auth server: every caller is anonymous' : verified,
      verified,
    ),
    toSetting(
      '--only (ratelimit)',
      'string',
      'The service that limits requests, by the rules of the domain graphql',
      ratelimitUrl ?? 'no rate limit service: requests are not limited',
      local,
    ),
  ]
}

function toSetting(
  name: string,
  type: string,
  help: string,
  value: string | number,
  byDefault: string | number,
): EffectiveSetting {
  const isChanged = value !== byDefault
  return {
    name,
    chapter: 'Options of portcullis up',
    help,
    type,
    default: `${byDefault}`,
    source: isChanged ? 'argument' : 'default',
    is_secret: false,
    is_set: isChanged,
    is_changed: isChanged,
    value: `${value}`,
  }
}
