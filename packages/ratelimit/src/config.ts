import {
  type AnyVariable,
  type Chapters,
  type Environment,
  type Fault,
  readSettings,
} from '@portcullis/service-kit/env'
import { findMisspellings } from '@portcullis/service-kit/similar-names'
import type { Check } from './config/check.ts'
import { type DecisionsConfig, decisions, toDecisions } from './config/decisions.ts'
import { type ListenersConfig, listeners, toListeners } from './config/listeners.ts'
import { memcached } from './config/memcached.ts'
import { isMogrifierVariable } from './config/mogrifiers.ts'
import {
  type LifecycleConfig,
  type LogConfig,
  processSettings,
  toLifecycle,
  toLog,
  toWorkers,
} from './config/process.ts'
import { redis, redisPerSecond } from './config/redis.ts'
import { type RulesConfig, rules, toRules, xds } from './config/rules.ts'
import { type StatsConfig, stats, toStats } from './config/stats.ts'
import { type StoreConfig, store, toStore } from './config/store.ts'
import { type TracingConfig, toTracing, tracing } from './config/tracing.ts'

/** Every variable there is. Validation, `serve --help` and the manual come from this table. */
export const chapters = {
  listeners,
  process: processSettings,
  rules,
  xds,
  decisions,
  store,
  redis,
  redisPerSecond,
  memcached,
  stats,
  tracing,
} satisfies Chapters

export interface Config {
  readonly listeners: ListenersConfig
  readonly log: LogConfig
  readonly lifecycle: LifecycleConfig
  /** How many processes share the work; 1 for this one alone. */
  readonly workers: number
  readonly rules: RulesConfig
  readonly decisions: DecisionsConfig
  readonly store: StoreConfig
  readonly stats: StatsConfig
  readonly tracing: TracingConfig | undefined
}

export interface ParsedConfig {
  /** Only to be used when there are no faults. */
  readonly config: Config
  /** All that keeps the service from starting. */
  readonly faults: readonly Fault[]
  /** Warnings for the log. */
  readonly notes: readonly string[]
}

export function parseConfig(env: Environment): ParsedConfig {
  const reading = readSettings(chapters, env)
  const { settings } = reading
  const faults = [...reading.faults]
  const notes = [...reading.notes]
  const check: Check = {
    fault: (variable, message) => faults.push(reading.toFault(variable, message)),
    note: (text) => notes.push(text),
    isSet: (variable) => reading.nameAsSet(variable) !== undefined,
    nameOf: (variable) => reading.nameAsSet(variable) ?? variable.name,
  }
  const storeConfig = toStore(settings, check)
  const config: Config = {
    listeners: toListeners(settings.listeners, check),
    log: toLog(settings.process),
    lifecycle: toLifecycle(settings.process),
    workers: toWorkers(settings.process, storeConfig.kind !== 'memory', check),
    rules: toRules(settings.rules, settings.xds, check),
    decisions: toDecisions(settings.decisions, check),
    store: storeConfig,
    stats: toStats(settings.stats, env, check),
    tracing: toTracing(settings.tracing),
  }
  for (const { name, suggestion } of findUnknown(env)) {
    notes.push(`${name} is not a variable of this service: did you mean ${suggestion}?`)
  }
  return { config: freeze(config), faults, notes }
}

function findUnknown(env: Environment) {
  const variables: AnyVariable[] = Object.values(chapters).flatMap((chapter) =>
    Object.values(chapter.variables),
  )
  const known = new Set(variables.flatMap(({ name, aliases }) => [name, ...aliases]))
  return findMisspellings(
    Object.keys(env).filter((name) => !isMogrifierVariable(name)),
    known,
  )
}

/** Maps and patterns stay as they are: their types already say that nobody changes them. */
function freeze<Value>(value: Value): Value {
  const isPlain =
    Array.isArray(value) ||
    (typeof value === 'object' &&
      value !== null &&
      Object.getPrototypeOf(value) === Object.prototype)
  if (isPlain) for (const inner of Object.values(value)) freeze(inner)
  return isPlain ? Object.freeze(value) : value
}
