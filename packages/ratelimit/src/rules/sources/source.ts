import type { Check } from '@portcullis/service-kit/config-check'
import type { Chapters, SettingsByChapter } from '@portcullis/service-kit/env'
import type { Log } from '@portcullis/service-kit/log'
import type { RuleCountersByKey } from '../../stats/rule-counters.ts'
import type { RuleSnapshot } from '../match/snapshot.ts'
import type { RuleFault } from '../model/fault.ts'

/** Where rules come from. It loads by itself, whenever its rules change, until it is disposed. */
export interface RuleSource extends AsyncDisposable {
  /** Resolves when the first attempt to load is over, however it ended. Never rejects. */
  readonly firstAttempt: Promise<void>
}

/**
 * A kind of source, as the service offers it. To add one, write a file with such an object in it and list it in
 * index.ts: CONFIG_TYPE, `serve --help` and the manual follow from it.
 */
export interface RuleSourcePlugin<
  C extends Chapters = Chapters,
  Config extends SourcePluginConfig = SourcePluginConfig,
> {
  readonly kind: Config['kind']
  /** The value of CONFIG_TYPE that chooses it. */
  readonly configType: string
  /** Where rules come from, for the help of CONFIG_TYPE. */
  readonly place: string
  /** Its variables. */
  readonly chapters: C
  toConfig(settings: SettingsByChapter<C>, check: Check): Config
  /** Loads the code of the source when it is called. */
  open(config: Config, parts: SourcePluginParts): Promise<RuleSource>
}

/** What a source makes of its settings: plain data, which is sent to workers. */
export interface SourcePluginConfig {
  readonly kind: string
}

export interface SourcePluginParts extends RuleSourceParts {
  /** MERGE_DOMAIN_CONFIG: whether rules of one domain may come in several pieces. */
  readonly mergeDomains: boolean
  readonly statistics: SourceStatistics
}

/** The registry of statistics, as far as sources need it. */
export interface SourceStatistics {
  counter(name: string): { value: number }
  gauge(name: string, read: () => number): void
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
