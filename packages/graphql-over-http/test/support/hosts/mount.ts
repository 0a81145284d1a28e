import type { Probe } from './probe.ts'
import { createScenarios, type ScenarioOptions, type SetHeader } from './scenarios.ts'

/** The handlers of one adapter by path: one for each scenario, tracked by the probe. */
export function mount<RequestContext, Args extends unknown[], Result>(
  probe: Probe,
  setHeader: SetHeader<RequestContext> | undefined,
  createHandler: (options: ScenarioOptions<RequestContext>) => (...args: Args) => Result,
): ReadonlyMap<string, (...args: Args) => Result> {
  const handlers = new Map<string, (...args: Args) => Result>()
  for (const [path, options] of createScenarios(setHeader)) {
    handlers.set(path, probe.track(createHandler(options)))
  }
  return handlers
}

/** The path of a request target, without its query. */
export function toPath(url: string | undefined): string {
  return (url ?? '').replace(/\?.*$/s, '')
}
