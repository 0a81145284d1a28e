import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { PackedRules } from '../../hot/index.ts'
import type { RuleFault } from '../model/fault.ts'
import type { RuleFile } from '../sources/file/rule-directory.ts'

/** What the thread of `parse-worker.ts` is made with. */
export interface ParseThreadData {
  readonly fileNames: readonly string[]
  readonly mergeDomains: boolean
}

/** What it is told: the texts piece by piece, then to parse. */
export type ParseThreadMessage =
  | { readonly kind: 'text'; readonly file: number; readonly text: string }
  | { readonly kind: 'parse' }

/** What it answers. */
export interface PackedParse {
  /** Empty when there is any fault. */
  readonly rules: PackedRules
  readonly faults: readonly RuleFault[]
  readonly warnings: readonly RuleFault[]
}

/** The thread broke: by a defect of ours, or because there was not enough memory. */
export class ParseThreadError extends Error {
  override readonly name = 'ParseThreadError'
}

/** Copying ten megabytes to another thread at once would hold up decisions for 15 ms. */
const lettersPerTurn = 256 * 1024

/** The near end of the thread. Whoever opens it closes it. */
export class ParseThread implements AsyncDisposable {
  readonly #worker: Worker
  readonly #failure: Promise<never>

  constructor(data: ParseThreadData, maxHeapMb: number | undefined) {
    const worker = new Worker(new URL('./parse-worker.ts', import.meta.url), {
      workerData: data,
      name: 'rule parser',
      resourceLimits: maxHeapMb === undefined ? {} : { maxOldGenerationSizeMb: maxHeapMb },
    })
    this.#worker = worker
    this.#failure = new Promise((_, reject) => {
      worker.once('error', (error) => reject(toThreadError(error)))
      worker.once('exit', () => reject(new ParseThreadError('the parser ended early')))
    })
    // It is raced against the answer; after that nobody waits for it.
    this.#failure.catch(() => {})
  }

  async parse(files: readonly RuleFile[]): Promise<PackedParse> {
    for (const [file, { text, pieces = cut(text) }] of files.entries()) {
      for (const piece of pieces) {
        this.#tell({ kind: 'text', file, text: piece })
        await nextTurn()
      }
    }
    const parsed = new Promise<PackedParse>((resolve) => this.#worker.once('message', resolve))
    this.#tell({ kind: 'parse' })
    return Promise.race([parsed, this.#failure])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }

  #tell(message: ParseThreadMessage): void {
    this.#worker.postMessage(message)
  }
}

function* cut(text: string): Generator<string> {
  for (let from = 0; from < text.length; from += lettersPerTurn) {
    yield text.slice(from, from + lettersPerTurn)
  }
}

function toThreadError(error: unknown): ParseThreadError {
  const isOutOfMemory =
    error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  const text = error instanceof Error ? error.message : String(error)
  const message = isOutOfMemory ? 'the rule files need more memory than there is' : text
  return new ParseThreadError(message, { cause: error })
}
