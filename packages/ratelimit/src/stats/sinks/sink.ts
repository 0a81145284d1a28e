import type { Check } from '@portcullis/service-kit/config-check'
import type {
  Chapters,
  Environment,
  SettingsByChapter,
  Variable,
} from '@portcullis/service-kit/env'
import type { Log } from '@portcullis/service-kit/log'
import type { Statistics } from '../registry.ts'

/** Where statistics go. Disposing sends what is still unsent, then closes. */
export interface Sink extends AsyncDisposable {
  /** Where it listens, if it does. */
  readonly address?: string
  /** Sends what has changed, now. Resolves when it is written, or cannot be. */
  flush(): Promise<void>
}

/**
 * A kind of sink, as the service offers it. To add one, write a file with such an object in it and list it in
 * index.ts: the choice between the sinks, `serve --help` and the manual follow from it.
 */
export interface SinkPlugin<
  C extends Chapters = Chapters,
  Config extends SinkPluginConfig = SinkPluginConfig,
> {
  readonly kind: Config['kind']
  /** Its variables. */
  readonly chapters: C
  /** The variable that chooses it; undefined where it is not chosen by a variable of its own. */
  readonly choice: Variable<boolean> | undefined
  isChosen(settings: SettingsByChapter<C>): boolean
  /** @param env for variables whose names depend on the values of others. */
  toConfig(settings: SettingsByChapter<C>, check: Check, env: Environment): Config
  /** Whether the sink reads a variable that is not in its chapters. */
  ownsVariable?(name: string): boolean
  open(config: Config, settings: SinkSettings, surroundings: SinkSurroundings): Sink | Promise<Sink>
}

/** What a sink makes of its settings: plain data, which is sent to workers. */
export interface SinkPluginConfig {
  readonly kind: string
}

/** What all sinks have in common. */
export interface SinkSettings {
  readonly flushIntervalMs: number
  /** On all statistics. */
  readonly extraTags: ReadonlyMap<string, string>
}

/** What a sink is given to work with. */
export interface SinkSurroundings {
  readonly statistics: Statistics
  readonly log: Log
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** What the process takes of its machine, beside the gauges of the statistics. */
  readonly processGauges: () => Iterable<readonly [name: string, value: number]>
  /** Whether the rules name a domain: only they know whether its name has dots. */
  readonly hasDomain: (domain: string) => boolean
}
