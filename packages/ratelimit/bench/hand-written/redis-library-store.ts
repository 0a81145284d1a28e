import {
  type Counted,
  type CounterStore,
  highestCount,
  type Increment,
  StoreError,
} from '../../src/counters/counter-store.ts'
import { readThenAdd } from '../../src/counters/read-then-add.ts'
import {
  refundScript,
  type Script,
  slideScript,
  spareScript,
} from '../../src/counters/redis/scripts.ts'
import { toShare } from '../../src/counters/sliding-window.ts'

/** The operations of a client library; each module in `peers/` adapts one. */
export interface RedisLibrary {
  /** Sends the commands and calls back once, with a reply for each, or an `Error` for a failed one. */
  run(
    commands: readonly (readonly string[])[],
    replied: (replies: readonly unknown[]) => void,
  ): void
  close(): Promise<void>
}

export interface RedisLibrarySettings {
  readonly isCluster: boolean
  /** Whether each increment renews the TTL. Otherwise only unknown counters get one. */
  readonly isRenewing: boolean
}

/** A counter store with a client library, with the same commands as `redis-store.ts`. */
export function createRedisLibraryStore(
  library: RedisLibrary,
  settings: RedisLibrarySettings,
): CounterStore {
  return new RedisLibraryStore(library, settings)
}

class RedisLibraryStore implements CounterStore {
  readonly #library: RedisLibrary
  readonly #settings: RedisLibrarySettings
  readonly #known = new Set<string>()
  readonly #idle = Promise.withResolvers<void>()
  #pending = 0
  #isClosed = false

  constructor(library: RedisLibrary, settings: RedisLibrarySettings) {
    this.#library = library
    this.#settings = settings
  }

  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    const commands: string[][] = []
    const places: number[] = []
    for (const increment of increments) {
      places.push(this.#pushChange(commands, increment))
    }
    this.#run(commands, deadlineMs, counted, (replies) => {
      for (let at = 0; at < increments.length; at++) {
        const increment = increments[at]
        if (increment) setCount(increment, replies[places[at] ?? 0])
      }
    })
  }

  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    if (increments.length < 2) {
      this.add(increments, deadlineMs, counted)
    } else if (this.#settings.isCluster) {
      readThenAdd(this, increments, deadlineMs, counted)
    } else {
      const command = ['EVAL', toText(spareScript), `${increments.length}`]
      command.push(...increments.map(toName))
      for (const each of increments) {
        command.push(...toValues(each, this.#ttlSeconds(each)), each.isStrict ? '1' : '0')
      }
      this.#run([command], deadlineMs, counted, ([reply]) => {
        if (!Array.isArray(reply)) throw toError(reply)
        for (const [at, increment] of increments.entries()) {
          setCount(increment, reply.slice(2 * at, 2 * at + 2))
        }
      })
    }
  }

  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    const commands = increments.map((increment) => {
      const { window, unitSeconds, overlapMs } = increment
      if (overlapMs === 0) return ['GET', toName(increment)]
      return ['HMGET', toName(increment), `${window}`, `${window - unitSeconds}`]
    })
    this.#run(commands, deadlineMs, counted, (replies) => {
      for (const [at, increment] of increments.entries()) {
        const reply = replies[at]
        if (!Array.isArray(reply)) {
          setCount(increment, reply ?? 0)
          continue
        }
        const [current, previous] = [Number(reply[0] ?? 0), Number(reply[1] ?? 0)]
        const share = toShare(previous, increment.overlapMs, increment.unitSeconds)
        setCount(increment, [current + share, previous])
      }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const wasClosed = this.#isClosed
    this.#isClosed = true
    if (this.#pending === 0) this.#idle.resolve()
    await this.#idle.promise
    if (!wasClosed) await this.#library.close()
  }

  #run(
    commands: readonly (readonly string[])[],
    deadlineMs: number,
    counted: Counted,
    use: (replies: readonly unknown[]) => void,
  ): void {
    if (this.#isClosed || deadlineMs <= Date.now()) {
      counted(new StoreError(this.#isClosed ? 'the store is closed' : 'the deadline is over'))
      return
    }
    if (commands.length === 0) {
      counted(undefined)
      return
    }
    this.#pending++
    this.#library.run(commands, (replies) => {
      this.#pending--
      if (this.#isClosed && this.#pending === 0) this.#idle.resolve()
      let failure: StoreError | undefined
      try {
        use(replies)
      } catch (error) {
        failure = toError(error)
      }
      counted(failure)
    })
  }

  /** Returns the index of the command whose reply is the count. */
  #pushChange(commands: string[][], increment: Increment): number {
    const name = toName(increment)
    const { hits, overlapMs } = increment
    if (overlapMs > 0) {
      const values = toValues(increment, this.#ttlSeconds(increment))
      return commands.push(['EVAL', toText(slideScript), '1', name, ...values]) - 1
    }
    if (hits < 0) return commands.push(['EVAL', toText(refundScript), '1', name, `${hits}`]) - 1
    const ttl = `${this.#ttlSeconds(increment)}`
    if (this.#known.has(name)) {
      const place = commands.push(['INCRBY', name, `${hits}`]) - 1
      if (this.#settings.isRenewing) commands.push(['EXPIRE', name, ttl])
      return place
    }
    this.#known.add(name)
    commands.push(['SET', name, '0', 'EX', ttl, 'NX'])
    return commands.push(['INCRBY', name, `${hits}`]) - 1
  }

  #ttlSeconds({ unitSeconds, overlapMs }: Increment): number {
    const neededSeconds = overlapMs > 0 ? 2 * unitSeconds : unitSeconds
    return this.#settings.isRenewing
      ? neededSeconds
      : neededSeconds + 1 + Math.floor(Math.random() * 299)
  }
}

function setCount(increment: Increment, reply: unknown): void {
  if (typeof reply === 'number') {
    increment.after = reply
  } else if (Array.isArray(reply)) {
    const [after, previous] = reply
    increment.after = Number(after)
    if (increment.overlapMs > 0) increment.previous = Number(previous)
  } else if (typeof reply === 'string') {
    increment.after = Number(reply)
  } else {
    const error = toError(reply)
    if (!error.message.includes('overflow')) throw error
    increment.after = highestCount
  }
}

function toError(reason: unknown): StoreError {
  return new StoreError(reason instanceof Error ? reason.message : `an unexpected reply: ${reason}`)
}

function toName({ key, window, unitSeconds, overlapMs }: Increment): string {
  return overlapMs > 0 ? `${key}${unitSeconds}s` : `${key}${window}`
}

function toValues(
  { window, unitSeconds, overlapMs, hits, most }: Increment,
  ttlSeconds: number,
): string[] {
  const lengthMs = unitSeconds * 1000
  return [window, window - unitSeconds, overlapMs, lengthMs, hits, most, ttlSeconds].map(String)
}

/** The text of the script, which `byText` contains between its length and the line break. */
function toText({ byText }: Script): string {
  return byText.toString().split('\r\n')[3] ?? ''
}
