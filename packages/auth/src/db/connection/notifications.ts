import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import { parseConnectionUrl } from './connection-url.ts'
import { connectBy, RoutedClient } from './open-client.ts'
import { Routes } from './routes.ts'

interface ListenSettings {
  /** `postgres://…` */
  readonly url: string
  /** A plain identifier. */
  readonly channel: string
  readonly onNotified: () => void
  readonly log: Pick<Log, 'info' | 'warning'>
}

interface Listening extends AsyncDisposable {
  readonly isListening: boolean
}

const timeoutMs = 10_000
const shortestPauseMs = 100
const longestPauseMs = 5_000

/** The connection leads through a pooler, so that notifications would be lost. */
class PoolerError extends Error {}

/**
 * Listens to notifications of PostgreSQL with its own connection, which is opened again when it
 * is lost.
 */
export function listen({ url, channel, onNotified, log }: ListenSettings): Listening {
  const routes = new Routes({ url: parseConnectionUrl(url), settings: {}, timeoutMs })
  const closing = new AbortController()
  let client: RoutedClient | undefined

  /** Resolves when the connection is lost. */
  async function run(): Promise<void> {
    const lost = Promise.withResolvers<void>()
    const opened = await connectBy(routes, async () => {
      const opening = new RoutedClient(routes, {
        application_name: 'portcullis-auth notifications',
        keepAlive: true,
      })
      opening.on('error', () => lost.resolve())
      opening.on('end', () => lost.resolve())
      opening.on('notification', onNotified)
      await opening.connect()
      try {
        const { isOwn } = await opening.examine({})
        if (!isOwn) throw new PoolerError()
        await opening.query(`listen ${channel}`)
      } catch (error) {
        await opening.end()
        throw error
      }
      return opening
    })
    try {
      if (closing.signal.aborted) return
      client = opened
      closing.signal.addEventListener('abort', () => lost.resolve(), { once: true })
      // Rows may have been written while there was no connection.
      onNotified()
      await lost.promise
    } finally {
      client = undefined
      await opened.end().catch(() => {})
    }
  }

  async function keepRunning(): Promise<void> {
    let pauseMs = shortestPauseMs
    while (!closing.signal.aborted) {
      try {
        await run()
        pauseMs = shortestPauseMs
      } catch (error) {
        if (error instanceof PoolerError) {
          log.warning(
            'PostgreSQL cannot notify this server of revocations, because a connection pooler is in between and LISTEN needs its own connection. They are read four times a second instead, while a client of GET /revocations is connected. Connect directly to PostgreSQL to receive them at once',
          )
          return
        }
        log.info(`Cannot listen to revocations: ${toReason(error)}`)
      }
      await sleep(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => {})
      pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    }
  }

  const running = keepRunning()
  return {
    get isListening() {
      return client !== undefined
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await running
    },
  }
}
