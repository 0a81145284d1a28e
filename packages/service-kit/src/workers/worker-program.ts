import process from 'node:process'
import type { ToWorker } from './messages.ts'

/**
 * Runs a worker process: waits for the start data from the primary, loads the program, and exits
 * with its exit code.
 */
export async function runWorkerProgram<Start>(
  load: () => Promise<(start: Start) => Promise<number>>,
): Promise<never> {
  // Ctrl-C reaches the whole process group, but the primary decides when to stop.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})

  const exitIfAlone = () => process.exit(1)
  process.on('disconnect', exitIfAlone)
  const { promise, resolve } = Promise.withResolvers<Start>()
  // `once`, so that later messages are kept until the worker listens.
  process.once('message', (message: ToWorker<Start>) => {
    if (message.kind === 'start') resolve(message.start)
  })
  const start = await promise
  const run = await load()
  process.off('disconnect', exitIfAlone)
  if (!process.connected) exitIfAlone()
  return process.exit(await run(start))
}
