import { type Child, startChild } from '@portcullis/bench-kit/child'

/** Longer than any phase of load, so that reaching it is an error. */
export const replyTimeoutSeconds = 120

/** Starts the process that sends the load. */
export function startLoad(): Child {
  return startChild(new URL('./load.ts', import.meta.url), { replyTimeoutSeconds })
}
