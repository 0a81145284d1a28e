import { type Child, startChild } from '@portcullis/bench-kit/child'

/** Longer than any stretch of load: then something is wrong. */
export const silenceSeconds = 120

/** Starts the process that sends the load. */
export function startLoad(): Child {
  return startChild(new URL('./load.ts', import.meta.url), { silenceSeconds })
}
