// The process that sends the load.

import { runLoadJobs } from '@portcullis/bench-kit/load-process'
import { prepareLoad } from './prepare-load.ts'

runLoadJobs(prepareLoad)
