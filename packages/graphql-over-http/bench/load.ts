// The process that generates the load: each message is a job for one slice, and the reply is its outcome.

import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { runSlice } from './slice.ts'

answerParent(runSlice)
