import { toReason } from '@portcullis/service-kit/text/reason'
import type { RedisSettings } from '../settings.ts'
import type { LinkSettings } from './link.ts'
import { runCommand } from './run-command.ts'

const checkAgainMs = 30_000

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
  let isChecking = false
  let checkedAtMs = Number.NEGATIVE_INFINITY

  async function check(): Promise<void> {
    isChecking = true
    try {
      isServer = Array.isArray(await runCommand(settings, ['ROLE'], signal))
    } catch (error) {
      const reason = toReason(error)
      // Only a server knows permissions: the user may not run ROLE.
      isServer = reason.includes('NOPERM')
      if (!isServer && checkedAtMs < 0) {
        log.info(
          `${name} seems to be a proxy: counters are checked and changed in two steps (${reason})`,
        )
      }
    }
    isChecking = false
    checkedAtMs = performance.now()
  }

  return () => {
    const isDue = !isServer && !isChecking && performance.now() >= checkedAtMs + checkAgainMs
    if (isDue && !signal.aborted) void check()
    return isServer
  }
}
