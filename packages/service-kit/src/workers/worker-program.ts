import process from 'node:process'
import type { ToWorker } from './messages.ts'

/**
 * Runs the whole life of a worker's process: waits until the primary has sent what it has to know,
 * loads what it runs, and ends with the exit code of that.
 */
export async function runWorkerProgram<Start>(
  load: () => Promise<(start: Start) => Promise<number>>,
): Promise<never> {
  // Ctrl-C reaches the whole group; the primary says when to stop.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})

  const exitIfAlone = () => process.exit(1)
  process.on('disconnect', exitIfAlone)
  const { promise, resolve } = Promise.withResolvers<Start>()
  // Once: what comes before the worker listens for itself is kept for it.
  process.once('message', (message: ToWorker<Start>) => {
    if (message.kind === 'start') resolve(message.start)
  })
  const start = await promise
  const run = await load()
  process.off('disconnect', exitIfAlone)
  if (!process.connected) exitIfAlone()
  return process.exit(await run(start))
}
