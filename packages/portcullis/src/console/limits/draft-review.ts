import { checkRules, compareRules, type RuleComparison } from '@portcullis/ratelimit/rules'
import { BodyTooLargeError, ConsoleError } from '../errors.ts'
import { toFetchReason } from '../upstream.ts'
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
  const requests = await readRecordedRequests(service).catch(toReadFailure)
  if (typeof requests === 'string') return unavailable(requests)
  return {
    comparison: await compareRules(before.rules, after.rules, requests),
    reason: undefined,
  }
}

/** A limit can be changed and a file can be saved without the recorded requests, so no error is thrown. */
function toReadFailure(error: unknown): string {
  if (error instanceof ConsoleError) return error.message
  const what = 'The recorded requests of the service cannot be read'
  return error instanceof BodyTooLargeError
    ? `${what}: the response is too large, because ${error.message}. Set a lower DEBUG_RECORDED_DECISIONS.`
    : `${what}: ${toFetchReason(error)}.`
}

function unavailable(reason: string): DraftReview {
  return { comparison: undefined, reason }
}
