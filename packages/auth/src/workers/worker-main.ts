import { enableCompileCache } from 'node:module'
import { keepYoungSpaceSmall } from '@portcullis/service-kit/process/young-space'
import { runWorkerProgram } from '@portcullis/service-kit/workers/worker-program'

enableCompileCache()
keepYoungSpaceSmall()
await runWorkerProgram(async () => (await import('./worker.ts')).runWorker)
