import { askRedis } from './ask.ts'
import type { LinkSettings } from './link.ts'
import type { RedisSettings } from './settings.ts'

const askAgainMs = 30_000

/**
 * Tells a Redis from a proxy that spreads keys over several and looks like one: that would send a
 * command to the server of its first key, whatever the others are. Only a server has a role. It is
 * asked when somebody wants to know, since a proxy may end the connection over such a question;
 * until it has answered it is taken for a proxy.
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
      // A user without the right to ask is one of a server.
      isServer = reason.includes('NOPERM')
      if (!isServer && askedAtMs < 0) {
        log.info(`${name} seems to be a proxy: increments stop in two steps (${reason})`)
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
