// The process that sends the load: one slice per message, the outcome as answer.

import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { runSlice } from './slice.ts'

answerParent(runSlice)
