import type { Log } from '@portcullis/service-kit/log/log'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import type { Chapters, SettingsByChapter } from '@portcullis/service-kit/settings/env'
import type { RuleCountersByKey } from '../../stats/rule-counters.ts'
import type { RuleSnapshot } from '../match/snapshot.ts'
import type { RuleFault } from '../model/fault.ts'

/** A source of rules. It loads them whenever they change, until it is disposed. */
export interface RuleSource extends AsyncDisposable {
  /** Resolves when the first attempt to load has succeeded or failed. Never rejects. */
  readonly firstAttempt: Promise<void>
}

/**
 * A kind of source, as the service offers it. To add one, create a file that exports such an object and list it in
 * index.ts: CONFIG_TYPE, `serve --help` and the manual follow from it.
 */
export interface RuleSourcePlugin<
  C extends Chapters = Chapters,
  Config extends SourcePluginConfig = SourcePluginConfig,
> {
  readonly kind: Config['kind']
  /** The value of CONFIG_TYPE that selects it. */
  readonly configType: string
  /** Where rules come from, for the help of CONFIG_TYPE. */
  readonly place: string
  /** The variables of the source. */
  readonly chapters: C
  toConfig(settings: SettingsByChapter<C>, check: Check): Config
  /** Loads the code of the source on demand. */
  open(config: Config, parts: SourcePluginParts): Promise<RuleSource>
}

/** The parsed settings of a source: plain data, which is sent to workers. */
export interface SourcePluginConfig {
  readonly kind: string
}

export interface SourcePluginParts extends RuleSourceParts {
  /** MERGE_DOMAIN_CONFIG: whether the rules of one domain may be in several files or resources. */
  readonly mergeDomains: boolean
  readonly statistics: SourceStatistics
}

/** The registry of statistics, as far as sources need it. */
export interface SourceStatistics {
  counter(name: string): { value: number }
  gauge(name: string, read: () => number): void
}

/** The dependencies of every source. */
export interface RuleSourceParts {
  readonly log: Log
  readonly counters: RuleCountersByKey
  /** Called for every successful load: rules are replaced as a whole or not at all. */
  readonly onSnapshot: (snapshot: RuleSnapshot) => void
  /** Called for every failed load. The previous rules stay in force. */
  readonly onFailure: (failure: LoadFailure) => void
}

export interface LoadFailure {
  readonly message: string
  /** The errors in the rules; empty if they could not be read. */
  readonly faults: readonly RuleFault[]
}
