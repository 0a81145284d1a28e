// A process that sends no load and returns its job.

import { runLoadJobs } from '../../src/load-process.ts'

interface EchoJob {
  readonly text: string
}

let closed = 0

runLoadJobs(async ({ text }: EchoJob) => {
  if (text === 'refuse') throw new Error('connection refused')
  if (text === 'end') process.exit(3)
  if (text === 'silence') await new Promise(() => setTimeout(() => {}, 60_000))
  return {
    run: async () => ({ text, closed, args: process.argv.slice(2), mode: process.env['MODE'] }),
    close: () => void closed++,
  }
})
