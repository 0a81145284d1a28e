import { resolveSrv as resolveByDns } from 'node:dns/promises'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { MemcachedSettings, ResolveSrv } from './settings.ts'

export interface SrvSettings {
  readonly record: string
  /** 0 means that the record is looked up only once. */
  readonly refreshMs: number
  readonly resolveSrv?: ResolveSrv | undefined
  /** Receives every list that was found. An error that it throws makes the lookup fail. */
  readonly onAddresses: (addresses: readonly string[]) => void
  readonly log: MemcachedSettings['log']
}

/** Looks up the nodes, and repeats that regularly. */
export class SrvLookup implements Disposable {
  readonly #settings: SrvSettings
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(settings: SrvSettings) {
    this.#settings = settings
  }

  /** @throws Error when the first lookup fails. Later failures keep the known nodes. */
  async start(): Promise<void> {
    const { record } = this.#settings
    try {
      await this.#resolve()
    } catch (error) {
      const text = `Unable to fetch servers from SRV ${record}: ${toReason(error)}`
      throw new Error(text, { cause: error })
    }
    this.#lookLater()
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #lookLater(): void {
    const { refreshMs } = this.#settings
    if (refreshMs <= 0 || this.#isClosed) return
    this.#timer = setTimeout(() => void this.#refresh(), Math.min(refreshMs, maxTimerMs)).unref()
  }

  async #refresh(): Promise<void> {
    const { record, log } = this.#settings
    try {
      await this.#resolve()
    } catch (error) {
      const reason = toReason(error)
      log.warning(
        `Failed to refresh the memcached nodes from SRV ${record}; the known nodes are kept: ${reason}`,
      )
    }
    this.#lookLater()
  }

  async #resolve(): Promise<void> {
    const { record, resolveSrv = resolveByDns, onAddresses } = this.#settings
    const targets = await resolveSrv(record)
    if (targets.length === 0) throw new Error('the record names no server')
    if (this.#isClosed) return
    // The order determines which node has which counter. envoyproxy/ratelimit sorts the names with
    // their trailing dot, which matters when one name is a prefix of another.
    const sorted = targets.map(({ name, port }) => `${name}.:${port}`).sort()
    onAddresses(sorted.map((address) => address.replace('.:', ':')))
  }
}

/** The longest delay of a timer in Node: 24 days. */
const maxTimerMs = 2_147_483_647
