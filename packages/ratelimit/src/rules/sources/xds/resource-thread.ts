import { Worker } from 'node:worker_threads'
import type { PackedRules } from '../../../hot/index.ts'
import type { ResourceFault } from './parse-resources.ts'
import { toReason } from './reason.ts'

/** What the thread of `resource-worker.ts` is made with. */
export interface ResourceThreadData {
  readonly response: Uint8Array
  readonly mergeDomains: boolean
}

/** What it says. */
export interface PackedResponse {
  /** Empty when there is any fault. */
  readonly rules: PackedRules
  readonly faults: readonly ResourceFault[]
  readonly warnings: readonly ResourceFault[]
}

/** The near end of a thread that parses one response. Whoever opens it closes it. */
export class ResourceThread implements AsyncDisposable {
  readonly #worker: Worker
  readonly parsed: Promise<PackedResponse>

  /** The memory of the response goes to the thread: it cannot be used here any more. */
  constructor(data: ResourceThreadData & { readonly response: Uint8Array<ArrayBuffer> }) {
    const worker = new Worker(new URL('./resource-worker.ts', import.meta.url), {
      workerData: data,
      transferList: [data.response.buffer],
      name: 'resource parser',
    })
    this.#worker = worker
    this.parsed = new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', (error) => reject(toThreadError(error)))
      worker.once('exit', () => reject(new Error('the parser ended early')))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}

function toThreadError(error: unknown): Error {
  const isOutOfMemory =
    error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  const message = isOutOfMemory ? 'the rules need more memory than there is' : toReason(error)
  return new Error(message, { cause: error })
}
