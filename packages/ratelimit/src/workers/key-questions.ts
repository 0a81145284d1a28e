import { setTimeout as sleep } from 'node:timers/promises'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { mergeTopLists, type TopOrder } from '../stats/top/top-list.ts'
import {
  type CounterState,
  type CounterTarget,
  type KeyAccess,
  KeyError,
  type TopKeys,
} from '../transports/debug/key-access.ts'
import type { KeyAnswer, KeyQuestion } from './messages.ts'
import type { RatelimitWorker } from './statistics-collector.ts'

type AskedWorker = Pick<RatelimitWorker, 'number' | 'isReady' | 'isResponsive' | 'send'>

/** Longer than a worker waits for its store. */
const patienceMs = 8_000

/** Answers a question of the primary. Runs in a worker. */
export async function answerKeyQuestion(
  access: KeyAccess | undefined,
  question: KeyQuestion,
): Promise<Pick<KeyAnswer, 'result' | 'error'>> {
  if (access === undefined)
    return { error: { status: 503, message: 'The worker is starting. Try again.' } }
  try {
    const { method, argument } = question
    return { result: await (method === 'top' ? access.top(argument) : access[method](argument)) }
  } catch (error) {
    const status = error instanceof KeyError ? error.status : 500
    return { error: { status, message: toMessage(error) } }
  }
}

/**
 * Access to keys and counters in the primary, which asks the workers. They share the counters, but each has its own sample
 * of the requests and its own local cache.
 */
export class WorkerKeys implements KeyAccess {
  readonly #workers: () => readonly AskedWorker[]
  readonly #awaited = new Map<number, (answer: Omit<KeyAnswer, 'kind'>) => void>()
  readonly #idsByWorker = new Map<AskedWorker, Set<number>>()
  #lastId = 0

  /** @param workers - the running workers */
  constructor(workers: () => readonly AskedWorker[]) {
    this.#workers = workers
  }

  take(message: KeyAnswer): void {
    this.#awaited.get(message.id)?.(message)
  }

  /** Fails the pending questions to a worker that has exited. */
  close(worker: AskedWorker): void {
    const error = { status: 503, message: `Worker ${worker.number} has exited. Try again.` }
    for (const id of this.#idsByWorker.get(worker) ?? []) this.#awaited.get(id)?.({ id, error })
    this.#idsByWorker.delete(worker)
  }

  /** The sum of all workers that answer. */
  async top(order: TopOrder): Promise<TopKeys> {
    const able = this.#listAble()
    const question = { method: 'top', argument: order } as const
    const answers = await Promise.allSettled(
      able.map((worker) => this.#ask<TopKeys>(worker, question)),
    )
    const lists = answers.filter((each) => each.status === 'fulfilled').map(({ value }) => value)
    const [failure] = answers.filter((each) => each.status === 'rejected')
    if (lists.length === 0) throw failure?.reason ?? noWorker()
    const merged = mergeTopLists(lists, order)
    const described = new Map(lists.flatMap(({ keys }) => keys.map((key) => [key.key, key])))
    const keys = merged.keys.map((key) => {
      const { rule, limitText } = described.get(key.key) ?? {}
      return { ...key, rule, limitText }
    })
    return { ...merged, keys }
  }

  /** Any worker can read the counters, which all of them share. */
  async inspect(argument: CounterTarget): Promise<CounterState> {
    const [worker] = this.#listAble()
    if (worker === undefined) throw noWorker()
    return await this.#ask(worker, { method: 'inspect', argument })
  }

  /**
   * Every worker resets the counter, because each has its own local cache. If one hangs, the call fails: it could refuse
   * requests from its cache later.
   */
  async reset(argument: CounterTarget): Promise<CounterState> {
    const ready = this.#listReady()
    const question = { method: 'reset', argument } as const
    const states = await Promise.all(
      ready.map((worker) => this.#ask<CounterState>(worker, question)),
    )
    const last = states.at(-1)
    if (last === undefined) throw noWorker()
    return last
  }

  #listReady(): readonly AskedWorker[] {
    return this.#workers().filter(({ isReady }) => isReady)
  }

  /** Workers that hang are left out, unless there are no others. */
  #listAble(): readonly AskedWorker[] {
    const ready = this.#listReady()
    const responsive = ready.filter(({ isResponsive }) => isResponsive)
    return responsive.length > 0 ? responsive : ready
  }

  async #ask<Result extends TopKeys | CounterState>(
    worker: AskedWorker,
    question: KeyQuestion,
  ): Promise<Result> {
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<Omit<KeyAnswer, 'kind'>>()
    this.#awaited.set(id, resolve)
    const ids = this.#idsByWorker.get(worker) ?? new Set()
    this.#idsByWorker.set(worker, ids.add(id))
    const enough = new AbortController()
    const tooLate = sleep(patienceMs, undefined, { signal: enough.signal }).catch(() => undefined)
    worker.send({ kind: 'keys', id, question })
    const answer = await Promise.race([promise, tooLate])
    enough.abort()
    this.#awaited.delete(id)
    ids.delete(id)
    if (answer?.result !== undefined) return answer.result as Result
    const { status, message } = answer?.error ?? {
      status: 504,
      message: `Worker ${worker.number} did not respond within ${patienceMs / 1000} s. Try again.`,
    }
    throw new KeyError(status, message)
  }
}

function noWorker(): KeyError {
  return new KeyError(503, 'No worker is running. Try again later.')
}
