import type { Entry } from '../../protocol/message.ts'
import type { TopList, TopOrder } from '../../stats/top/top-list.ts'

/** What the pages about keys need: in a single process the decisions, in the primary all workers. */
export interface KeyAccess {
  /** @throws {KeyError} if the list is disabled */
  top(order: TopOrder): Promise<TopKeys>
  /** @throws {KeyError} if no limit applies, or the store fails */
  inspect(target: CounterTarget): Promise<CounterState>
  /** Sets the counter to 0 and returns its new state. @throws {KeyError} as `inspect` */
  reset(target: CounterTarget): Promise<CounterState>
}

/** A list whose keys have the limits that apply to them now. */
export interface TopKeys extends Omit<TopList, 'keys'> {
  readonly keys: readonly LimitedKey[]
}

export type LimitedKey = TopList['keys'][number] & {
  /** The rule that limits the key; undefined if no rule limits it any more, or if the limit is given in the request. */
  readonly rule: string | undefined
  /** Such as `5 per minute`. */
  readonly limitText: string | undefined
}

/** Identifies a counter in the same way as a request does. */
export interface CounterTarget {
  readonly domain: string
  readonly entries: readonly Entry[]
}

export interface CounterState extends CounterTarget {
  /** The name of the counter in the store, up to its window. */
  readonly key: string
  /** The kind of store: `memory`, `redis` or `memcached`. */
  readonly store: string
  /** The path of the rule. */
  readonly rule: string
  /** Such as `5 per minute`. */
  readonly limitText: string
  readonly algorithm: string
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly limit: number
  /** The length of the window, and its start in seconds since the epoch. */
  readonly windowSeconds: number
  readonly windowStart: number
  /** The hits in the window; with a sliding window, also the share of the window before. */
  readonly hits: number
  readonly remaining: number
  /** Whether the next hit would be over the limit. */
  readonly isOver: boolean
  /** The seconds until the window ends, or until a sliding window that is full has room again. */
  readonly resetSeconds: number
}

/** Why a key cannot be read or reset. Its message is sent to the client. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
