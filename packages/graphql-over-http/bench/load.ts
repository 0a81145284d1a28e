// The process that sends the load: one slice per message, the outcome as answer.

import { runSlice, type SliceOrder } from './slice.ts'

process.on('disconnect', () => process.exit())
process.on('message', async (order: SliceOrder) => {
  try {
    process.send?.(await runSlice(order))
  } catch (error) {
    process.send?.({ failure: error instanceof Error ? error.message : String(error) })
  }
})
