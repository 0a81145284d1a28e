import { enableCompileCache } from 'node:module'
import process from 'node:process'
import { keepYoungSpaceSmall } from '@portcullis/service-kit/young-space'
import type { ToWorker, WorkerStart } from './messages.ts'

enableCompileCache()
keepYoungSpaceSmall()
// Ctrl-C reaches the whole group; the primary tells when to stop.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})

const exitIfAlone = () => process.exit(1)
process.on('disconnect', exitIfAlone)
const { promise, resolve } = Promise.withResolvers<WorkerStart>()
// Once: what comes before the worker listens for itself is kept for it.
process.once('message', (message: ToWorker) => {
  if (message.kind === 'start') resolve(message.start)
})
const start = await promise
const { runWorker } = await import('./worker.ts')
process.off('disconnect', exitIfAlone)
if (!process.connected) exitIfAlone()
process.exit(await runWorker(start))
