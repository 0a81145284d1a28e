import { packRules } from '../../hot/index.ts'
import type { RuleFault } from '../model/fault.ts'
import type { RuleFile } from '../sources/file/rule-directory.ts'
import { type PackedParse, ParseThread, ParseThreadError } from './parse-thread.ts'

export interface ParseInWorkerOptions {
  readonly mergeDomains: boolean
  /** The memory the thread may use; without it Node.js decides by the size of the machine. */
  readonly maxHeapMb?: number
}

/** Parses and packs in a thread of its own. A thread that breaks is a fault, like a bad file. */
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
