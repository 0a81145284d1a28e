import type { Log } from '@portcullis/service-kit/log'
import type { RuleCountersByKey } from '../../stats/instruments.ts'
import type { RuleSnapshot } from '../match/snapshot.ts'
import type { RuleFault } from '../model/fault.ts'

/** Where rules come from. It loads by itself, whenever its rules change, until it is disposed. */
export interface RuleSource extends AsyncDisposable {
  /** Resolves when the first attempt to load is over, however it ended. Never rejects. */
  readonly firstAttempt: Promise<void>
}

/** What every source is given. */
export interface RuleSourceParts {
  readonly log: Log
  readonly counters: RuleCountersByKey
  /** Once for every load that succeeded: rules are replaced as a whole or not at all. */
  readonly onSnapshot: (snapshot: RuleSnapshot) => void
  /** Once for every load that failed. The rules of before stay in force. */
  readonly onFailure: (failure: LoadFailure) => void
}

export interface LoadFailure {
  readonly message: string
  /** What is wrong inside the rules; empty where they could not even be read. */
  readonly faults: readonly RuleFault[]
}
