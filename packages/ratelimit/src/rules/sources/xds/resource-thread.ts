import { Worker } from 'node:worker_threads'
import type { ResourceFault } from './parse-resources.ts'
import { toReason } from './reason.ts'

/** What the thread of `resource-worker.ts` is made with. */
export interface ResourceThreadData {
  readonly response: Uint8Array
  readonly mergeDomains: boolean
  readonly rulesPerPart: number
}

/** The first thing it says. Every later message is an answer to ours: rows of rules. */
export interface ResourceSummary {
  readonly domains: readonly string[]
  readonly names: readonly string[]
  readonly ruleCount: number
  readonly faults: readonly ResourceFault[]
  readonly warnings: readonly ResourceFault[]
}

/** The near end of a thread that parses one response. Whoever opens it closes it. */
export class ResourceThread implements AsyncDisposable {
  readonly #worker: Worker
  readonly #failure: Promise<never>
  readonly summary: Promise<ResourceSummary>

  /** The memory of the response goes to the thread: it cannot be used here any more. */
  constructor(data: ResourceThreadData & { readonly response: Uint8Array<ArrayBuffer> }) {
    const worker = new Worker(new URL('./resource-worker.ts', import.meta.url), {
      workerData: data,
      transferList: [data.response.buffer],
      name: 'resource parser',
    })
    this.#worker = worker
    this.#failure = new Promise((_, reject) => {
      worker.once('error', (error) => reject(toThreadError(error)))
      worker.once('exit', () => reject(new Error('the parser ended early')))
    })
    // It is raced against every answer; after the last one nobody waits for it.
    this.#failure.catch(() => {})
    this.summary = this.#answer<ResourceSummary>()
  }

  nextRows(): Promise<string> {
    const answer = this.#answer<string>()
    this.#worker.postMessage('next')
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }

  #answer<Answer>(): Promise<Answer> {
    const answer = new Promise<Answer>((resolve) => this.#worker.once('message', resolve))
    return Promise.race([answer, this.#failure])
  }
}

function toThreadError(error: unknown): Error {
  const isOutOfMemory =
    error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  const message = isOutOfMemory ? 'the rules need more memory than there is' : toReason(error)
  return new Error(message, { cause: error })
}
