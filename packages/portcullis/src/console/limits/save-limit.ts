import { ConsoleError } from '../errors.ts'
import { type ChangedLimit, changeLimit, type NewLimit } from './change-limit.ts'
import { type DraftReview, reviewDraft } from './draft-review.ts'
import { readDirectory } from './rule-book.ts'
import { changeAndAwaitLoad, type LoadReport, readRuleFile, writeRuleFile } from './rule-files.ts'
import type { DebugTarget } from './statistics.ts'

/** A changed limit with its effect. */
export interface LimitChange extends Omit<ChangedLimit, 'text'> {
  readonly rule: string
  readonly review: DraftReview
  /** Undefined after a dry run. */
  readonly load: LoadReport | undefined
}

/**
 * Changes the limit of a rule in its file, and replays the recorded requests with the old and the new limit.
 * @throws {ConsoleError}
 */
export async function saveLimit(
  { directory, service }: { readonly directory: string; readonly service: DebugTarget },
  change: { readonly rule: string; readonly limit: NewLimit; readonly isDryRun: boolean },
): Promise<LimitChange> {
  const { rule, limit, isDryRun } = change
  const content = await readDirectory(directory)
  const { text, ...changed } = changeLimit(content, rule, limit)
  const { file: name } = changed
  const { version, text: current } = await readRuleFile(directory, name)
  // A byte order mark is dropped when a folder is read.
  const isSame = content.files.some(
    (file) => file.name === name && file.text === current.replace(/^\ufeff/, ''),
  )
  if (!isSame) {
    throw new ConsoleError(409, 'file_changed', `${name} has changed on disk. Try again.`)
  }
  const review = await reviewDraft({ directory, service }, { name, text })
  if (isDryRun) return { rule, ...changed, review, load: undefined }
  const { load } = await changeAndAwaitLoad(service.debugUrl, name, () =>
    writeRuleFile(directory, { name, text, version }),
  )
  return { rule, ...changed, review, load }
}
