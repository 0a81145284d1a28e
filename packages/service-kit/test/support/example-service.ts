// A service that does nothing but stop in an orderly way.
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '@portcullis/service-kit/log/log'
import { openLogOutput } from '@portcullis/service-kit/log/log-output'
import { openLifecycle } from '@portcullis/service-kit/process/lifecycle'

const output = openLogOutput({ fd: 2 })
const log = createLog({ level: 'info', format: 'text', write: output.write })
const lifecycle = openLifecycle({ log, process, drainDelayMs: 0, drainTimeoutMs: 60_000 })
const timer = setInterval(() => {}, 1_000)
lifecycle.own('timer', {
  [Symbol.dispose]() {
    clearInterval(timer)
    log.info('closed')
  },
})
lifecycle.drain('calls', async () => {
  await sleep(lifecycle.stopping.reason === 'SIGHUP' ? 3_600_000 : 50)
  log.info('drained')
})
process.stdout.write('ready\n')
process.exitCode = await lifecycle.ended
