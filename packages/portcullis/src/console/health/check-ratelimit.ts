import type { RatelimitTarget } from '../settings.ts'
import { ask, toDown } from './ask.ts'
import type { CheckPart } from './part-health.ts'

const name = 'The rate limit service'

/** The debug page must be there; what `/healthcheck` says counts where its address is known. */
export function createRatelimitCheck({ debugUrl, url }: RatelimitTarget): CheckPart {
  return async (signal) => {
    const options = signal ? { signal } : {}
    try {
      // The list of debug pages: `/stats` itself can be long.
      const debug = await ask(name, `${debugUrl}/`, options)
      if (!debug.text.includes('/stats')) {
        const detail = `${debugUrl} is no debug page of a rate limit service (${debug.status})`
        return { state: 'troubled', latencyMs: debug.latencyMs, detail }
      }
      if (url === undefined) return { state: 'up', latencyMs: debug.latencyMs }
      const { status, latencyMs } = await ask(name, `${url}/healthcheck`, options)
      if (status === 200) return { state: 'up', latencyMs }
      const detail = `Its /healthcheck answers ${status}: it cannot decide, or is about to stop`
      return { state: 'troubled', latencyMs, detail }
    } catch (error) {
      return toDown(error)
    }
  }
}
