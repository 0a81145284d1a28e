import type { Log } from '@portcullis/service-kit/log/log'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import type {
  Chapters,
  Environment,
  SettingsByChapter,
  Variable,
} from '@portcullis/service-kit/settings/env'
import type { Statistics } from '../registry.ts'

/** A destination of statistics. Disposing it sends the remaining statistics and closes it. */
export interface Sink extends AsyncDisposable {
  /** The address that it listens on, if it does. */
  readonly address?: string
  /** Sends all changes now. Resolves when they were written, or could not be written. */
  flush(): Promise<void>
}

/**
 * A kind of sink, as the service offers it. To add one, create a file that exports such an object and list it in
 * index.ts: the choice between the sinks, `serve --help` and the manual follow from it.
 */
export interface SinkPlugin<
  C extends Chapters = Chapters,
  Config extends SinkPluginConfig = SinkPluginConfig,
> {
  readonly kind: Config['kind']
  /** The variables of the sink. */
  readonly chapters: C
  /** The variable that selects the sink; undefined if it has none. */
  readonly choice: Variable<boolean> | undefined
  isChosen(settings: SettingsByChapter<C>): boolean
  /** @param env - contains variables whose names depend on the values of others */
  toConfig(settings: SettingsByChapter<C>, check: Check, env: Environment): Config
  /** Whether the sink reads a variable that is not in its chapters. */
  ownsVariable?(name: string): boolean
  open(config: Config, settings: SinkSettings, context: SinkContext): Sink | Promise<Sink>
}

/** The parsed settings of a sink: plain data, which is sent to workers. */
export interface SinkPluginConfig {
  readonly kind: string
}

/** The settings of all sinks. */
export interface SinkSettings {
  readonly flushIntervalMs: number
  /** Tags that are added to all statistics. */
  readonly extraTags: ReadonlyMap<string, string>
}

/** The dependencies of a sink. */
export interface SinkContext {
  readonly statistics: Statistics
  readonly log: Log
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** The resource usage of the process, in addition to the gauges of the statistics. */
  readonly processGauges: () => Iterable<readonly [name: string, value: number]>
  /** Whether the rules contain a domain. Without the rules, a domain with dots cannot be separated from a key. */
  readonly hasDomain: (domain: string) => boolean
}
