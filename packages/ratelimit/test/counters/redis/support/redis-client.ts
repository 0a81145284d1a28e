import { parseRedisAddress, parseRedisAuth } from '../../../../src/counters/redis/address.ts'
import type { LinkSettings } from '../../../../src/counters/redis/connection/link.ts'
import type { Reply } from '../../../../src/counters/redis/connection/resp-reader.ts'
import { runCommand } from '../../../../src/counters/redis/connection/run-command.ts'

export interface Target extends Partial<LinkSettings> {
  readonly port: number
  readonly auth?: string
}

/** Sends one command to a local server. */
export function command(
  { port, auth, ...settings }: Target,
  ...words: readonly (string | number)[]
): Promise<Reply> {
  const address = parseRedisAddress({ type: 'single', socketType: 'tcp', url: `127.0.0.1:${port}` })
  if (address.type !== 'single') throw new TypeError('not a single server')
  const link = {
    endpoint: address.endpoint,
    credentials: parseRedisAuth(auth),
    connectTimeoutMs: 120_000,
    ...settings,
  }
  return runCommand(link, words.map(String), new AbortController().signal)
}

/** All keys with their TTL in seconds. */
export async function listTtls(target: Target): Promise<Map<string, number>> {
  const keys = await command(target, 'KEYS', '*')
  const ttls = new Map<string, number>()
  for (const key of Array.isArray(keys) ? keys : []) {
    ttls.set(String(key), Number(await command(target, 'TTL', String(key))))
  }
  return ttls
}

/** The keys without a TTL. */
export async function listEndless(target: Target): Promise<Reply> {
  const script = `
    local endless = {}
    for _, key in ipairs(redis.call('KEYS', '*')) do
      if redis.call('TTL', key) == -1 then endless[#endless + 1] = key end
    end
    return endless`
  return command(target, 'EVAL', script, 0)
}
