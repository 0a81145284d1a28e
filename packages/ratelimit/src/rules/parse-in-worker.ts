import type { RuleFault } from './fault.ts'
import { parseRows } from './parse-rows.ts'
import { ParseThread, ParseThreadError } from './parse-thread.ts'
import type { RuleRecord } from './rule.ts'
import type { RuleFile } from './sources/rule-directory.ts'

export interface ParseInWorkerOptions {
  readonly mergeDomains: boolean
  /** The memory the thread may use; without it Node.js decides by the size of the machine. */
  readonly maxHeapMb?: number
}

export interface WorkerParse {
  readonly domains: readonly string[]
  readonly faults: readonly RuleFault[]
  readonly warnings: readonly RuleFault[]
}

/** Reading one part takes about a millisecond. */
const rulesPerPart = 500

/**
 * Parses in a thread of its own and hands the rules over in parts, each in its own turn of the
 * event loop. A thread that breaks is a fault, like a bad file: rules handed over before count for
 * nothing when there are faults.
 */
export async function parseInWorker(
  files: readonly RuleFile[],
  options: ParseInWorkerOptions,
  onRules: (rules: RuleRecord[]) => void | Promise<void>,
): Promise<WorkerParse> {
  const fileNames = files.map(({ name }) => name)
  const data = { fileNames, mergeDomains: options.mergeDomains, rulesPerPart }
  await using thread = new ParseThread(data, options.maxHeapMb)
  try {
    const { domains, ruleCount, faults, warnings } = await thread.parse(files)
    const names = { domains, files: fileNames }
    for (let received = 0; received < ruleCount; received += rulesPerPart) {
      await onRules(parseRows(await thread.nextRows(), names))
    }
    return { domains, faults, warnings }
  } catch (error) {
    if (!(error instanceof ParseThreadError)) throw error
    return { domains: [], faults: [toFault(error, fileNames)], warnings: [] }
  }
}

function toFault(error: ParseThreadError, names: readonly string[]): RuleFault {
  const file = names.length > 1 ? `${names[0]} and ${names.length - 1} more` : (names[0] ?? '')
  const message = `error loading config file: ${error.message}`
  return { message, place: { file, line: 1, column: 1 } }
}
