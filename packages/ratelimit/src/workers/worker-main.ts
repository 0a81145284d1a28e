import { enableCompileCache } from 'node:module'
import { runWorkerProgram } from '@portcullis/service-kit/workers/worker-program'

enableCompileCache()
await runWorkerProgram(async () => (await import('./worker.ts')).runWorker)
