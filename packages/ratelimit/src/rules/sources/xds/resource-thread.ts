import { Worker } from 'node:worker_threads'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import type { PackedRules } from '../../../hot/index.ts'
import type { ResourceFault } from './parse-resources.ts'

/** The input of `resource-worker.ts`. */
export interface ResourceThreadData {
  readonly response: Uint8Array
  readonly mergeDomains: boolean
}

/** The output of `resource-worker.ts`. */
export interface PackedResponse {
  /** Empty if there are faults. */
  readonly rules: PackedRules
  readonly faults: readonly ResourceFault[]
  readonly warnings: readonly ResourceFault[]
}

/** A handle for a thread that parses one response. The caller must close it. */
export class ResourceThread implements AsyncDisposable {
  readonly #worker: Worker
  readonly parsed: Promise<PackedResponse>

  /** The memory of the response is transferred to the thread and cannot be used afterwards. */
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
  const isOutOfMemory = toCode(error) === 'ERR_WORKER_OUT_OF_MEMORY'
  const message = isOutOfMemory ? 'the rules need more memory than is available' : toReason(error)
  return new Error(message, { cause: error })
}
