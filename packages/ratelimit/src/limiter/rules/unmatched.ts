import type { Entry } from '../../protocol/message.ts'
import type { RuleSnapshot } from '../../rules/match/snapshot.ts'
import type { MatchedRequest } from './matched-request.ts'

/** What happens to requests that no rule applies to. */
export const unmatchedModes = ['allow', 'warn', 'throw'] as const
/** See `onUnmatched` of the limiter. */
export type UnmatchedMode = (typeof unmatchedModes)[number]

/** No rule applies to a request, and the limiter has `onUnmatched: 'throw'`. Nothing was counted. */
export class UnmatchedError extends TypeError {
  override readonly name = 'UnmatchedError'
}

/** The maximum number of combinations of keys that cause a warning. */
export const mostWarnings = 100

/** Reports requests that no rule applies to, each combination of domain and keys once. */
export class UnmatchedReports {
  readonly #mode: UnmatchedMode
  readonly #warn: (message: string) => void
  readonly #warned = new Set<string>()

  constructor(mode: UnmatchedMode, warn: (message: string) => void) {
    this.#mode = mode
    this.#warn = warn
  }

  /** @throws UnmatchedError in the mode 'throw' */
  report({ domain, unmatched }: MatchedRequest, rules: RuleSnapshot): void {
    if (this.#mode === 'allow') return
    for (const entries of unmatched) {
      if (this.#mode === 'throw') throw new UnmatchedError(describe(domain, entries, rules))
      const shape = `${domain}\0${entries.map(({ key }) => key).join('\0')}`
      if (this.#warned.has(shape) || this.#warned.size >= mostWarnings) continue
      this.#warned.add(shape)
      this.#warn(
        `${describe(domain, entries, rules)} Such requests are allowed without being counted. ` +
          "This is logged once; onUnmatched: 'throw' rejects them, 'allow' turns the warning off.",
      )
    }
  }
}

/** Shows keys but no values, which may be secret. */
function describe(domain: string, entries: readonly Entry[], rules: RuleSnapshot): string {
  const keys = entries.map(({ key }) => key).join(', ')
  const descriptor = { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
  const { nearMisses } = rules.explain(domain, descriptor)
  const hints = nearMisses.map((hint) => ` ${hint[0]?.toUpperCase()}${hint.slice(1)}.`).join('')
  return `No rate limit applies to { ${keys} } in the domain '${domain}'.${hints.replaceAll('?.', '?')}`
}
