// The process that sends the load.

import { answerLoadOrders } from '@portcullis/bench-kit/load-process'
import { prepareLoad } from './run-order.ts'

answerLoadOrders(prepareLoad)
