import type { RedisSettings } from '../settings.ts'
import { askRedis } from './ask.ts'
import type { LinkSettings } from './link.ts'

const askAgainMs = 30_000

/**
 * Distinguishes a Redis server from a proxy that shards keys over several servers: a proxy would send a
 * command to the server of its first key, wherever the other keys are. Only a server answers ROLE. It is
 * sent on demand, because a proxy may close the connection because of it; until there is a reply, the
 * server is treated as a proxy.
 */
export function createServerCheck(
  settings: LinkSettings,
  name: string,
  log: RedisSettings['log'],
  signal: AbortSignal,
): () => boolean {
  let isServer = false
  let isAsking = false
  let askedAtMs = Number.NEGATIVE_INFINITY

  async function ask(): Promise<void> {
    isAsking = true
    try {
      isServer = Array.isArray(await askRedis(settings, ['ROLE'], signal))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      // Only a server knows permissions: the user may not run ROLE.
      isServer = reason.includes('NOPERM')
      if (!isServer && askedAtMs < 0) {
        log.info(
          `${name} seems to be a proxy: counters are checked and changed in two steps (${reason})`,
        )
      }
    }
    isAsking = false
    askedAtMs = performance.now()
  }

  return () => {
    const isDue = !isServer && !isAsking && performance.now() >= askedAtMs + askAgainMs
    if (isDue && !signal.aborted) void ask()
    return isServer
  }
}
