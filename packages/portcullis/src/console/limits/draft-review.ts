import { checkRules, compareRules, type RuleComparison } from '@portcullis/ratelimit/rules'
import { ConsoleError } from '../errors.ts'
import { readRecordedRequests } from './recorded-requests.ts'
import { readDirectory } from './rule-book.ts'
import { withText } from './rule-files.ts'
import type { DebugTarget } from './statistics.ts'

/** Which recorded requests a draft would decide differently. */
export interface DraftReview {
  /** Undefined if they could not be replayed. */
  readonly comparison: RuleComparison | undefined
  /** Why they could not be replayed. */
  readonly reason: string | undefined
}

/** Replays the recorded requests with the rules on disk and with the draft. @throws {ConsoleError} */
export async function reviewDraft(
  { directory, service }: { readonly directory: string; readonly service: DebugTarget },
  { name, text }: { readonly name: string; readonly text: string },
): Promise<DraftReview> {
  const content = await readDirectory(directory)
  const before = checkRules(content)
  const after = checkRules(withText(content, name, text))
  const fault = after.findings.find(({ severity }) => severity === 'fault')
  if (fault !== undefined) {
    return unavailable(`The rules with this draft contain an error: ${fault.message}.`)
  }
  if (before.findings.some(({ severity }) => severity === 'fault')) {
    return unavailable(
      'The rule files on disk contain an error, so the console does not know which rules the service uses. Fix the error first.',
    )
  }
  try {
    const requests = await readRecordedRequests(service)
    if (typeof requests === 'string') return unavailable(requests)
    return {
      comparison: await compareRules(before.rules, after.rules, requests),
      reason: undefined,
    }
  } catch (error) {
    if (error instanceof ConsoleError) return unavailable(error.message)
    throw error
  }
}

function unavailable(reason: string): DraftReview {
  return { comparison: undefined, reason }
}
