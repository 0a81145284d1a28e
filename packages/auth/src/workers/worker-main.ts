import { enableCompileCache } from 'node:module'
import { runWorkerProgram } from '@portcullis/service-kit/workers/worker-program'
import { keepYoungSpaceSmall } from '@portcullis/service-kit/young-space'

enableCompileCache()
keepYoungSpaceSmall()
await runWorkerProgram(async () => (await import('./worker.ts')).runWorker)
