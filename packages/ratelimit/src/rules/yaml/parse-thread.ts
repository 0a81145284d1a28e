import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { toCode, toMessage } from '@portcullis/service-kit/text/reason'
import { type PackedRules, packRules } from '../../hot/index.ts'
import type { RuleFault } from '../model/fault.ts'
import type { RuleFile } from './parse.ts'

/** The input of `parse-worker.ts`. */
export interface ParseThreadData {
  readonly fileNames: readonly string[]
  readonly mergeDomains: boolean
}

/** The messages to the thread: the pieces of the texts, then the command to parse. */
export type ParseThreadMessage =
  | { readonly kind: 'text'; readonly file: number; readonly text: string }
  | { readonly kind: 'parse' }

/** The output of the thread. */
export interface PackedParse {
  /** Empty if there are faults. */
  readonly rules: PackedRules
  readonly faults: readonly RuleFault[]
  readonly warnings: readonly RuleFault[]
}

/** The thread failed because of a bug, or because there was not enough memory. */
class ParseThreadError extends Error {
  override readonly name = 'ParseThreadError'
}

/** Copying ten megabytes to another thread at once would block decisions for 15 ms. */
const lettersPerTurn = 256 * 1024

/** A handle for the thread. The caller must close it. */
class ParseThread implements AsyncDisposable {
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
    // It is raced against the answer, and not awaited afterwards.
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
  const isOutOfMemory = toCode(error) === 'ERR_WORKER_OUT_OF_MEMORY'
  const message = isOutOfMemory
    ? 'the rule files need more memory than is available'
    : toMessage(error)
  return new ParseThreadError(message, { cause: error })
}

interface ParseInWorkerOptions {
  readonly mergeDomains: boolean
  /** The memory limit of the thread. Default: chosen by Node according to the memory of the machine. */
  readonly maxHeapMb?: number
}

/** Parses and packs in another thread. If the thread fails, that is a fault, like an invalid file. */
export async function parseInWorker(
  files: readonly RuleFile[],
  { mergeDomains, maxHeapMb }: ParseInWorkerOptions,
): Promise<PackedParse> {
  const fileNames = files.map(({ name }) => name)
  await using thread = new ParseThread({ fileNames, mergeDomains }, maxHeapMb)
  try {
    return await thread.parse(files)
  } catch (error) {
    if (!(error instanceof ParseThreadError)) throw error
    const rules = packRules({ domains: [], rules: [] })
    return { rules, faults: [toFault(error, fileNames)], warnings: [] }
  }
}

function toFault(error: ParseThreadError, names: readonly string[]): RuleFault {
  const file = names.length > 1 ? `${names[0]} and ${names.length - 1} more` : (names[0] ?? '')
  const message = `error loading config file: ${error.message}`
  return { message, place: { file, line: 1, column: 1 } }
}
